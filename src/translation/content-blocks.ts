import type { Draft } from "../jsonrpc/draft.js";
import { asString, isArrayText, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberOf, type RawObject, readObject } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import { isAtLeast, type LegacyRevision } from "../model/era.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "content-blocks",
  feature: "Content blocks younger than the client",
  modernClient: {
    fate: "same",
    how: "A modern client knows every block a legacy server can send.",
  },
  legacyClient: {
    fate: "translated",
    how: "`resource_link` becomes a text with name, address and description before 2025-06-18; `audio` becomes a text with type and size before 2025-03-26.",
  },
  loss: "Old clients read about the sound instead of hearing it; the result carries a notice `content-replaced`.",
  spec: ["2025-06-18/server/tools", "2025-03-26/server/tools"],
  about: ["audio", "resource_link", "content"],
};

/** The revision in which a block type appeared; types not listed are as old as the protocol. */
const SINCE: Readonly<Record<string, LegacyRevision>> = {
  audio: "2025-03-26",
  resource_link: "2025-06-18",
};

/** A content block for a client of the revision; the same text where it knows the block. */
export function lowerBlock(block: JsonText, revision: LegacyRevision): JsonText {
  const object = readObject(block);
  const type = asString(memberOf(object, "type")) ?? "";
  const since = Object.hasOwn(SINCE, type) ? SINCE[type] : undefined;
  if (object === undefined || since === undefined || isAtLeast(revision, since)) return block;
  return textBlock(type === "audio" ? aboutAudio(object) : aboutLink(object), object);
}

function textBlock(text: string, from: RawObject): JsonText {
  const kept = ["annotations", "_meta"].flatMap((key) => {
    const value = memberOf(from, key);
    return value === undefined ? [] : [`,"${key}":${value}`];
  });
  return `{"type":"text","text":${quote(text)}${kept.join("")}}`;
}

function aboutAudio(block: RawObject): string {
  const data = asString(memberOf(block, "data")) ?? "";
  const padding = /=*$/.exec(data)?.[0].length ?? 0;
  const bytes = Math.max(0, Math.floor((data.length * 3) / 4) - padding);
  return `[audio, ${asString(memberOf(block, "mimeType")) ?? "unknown type"}, ${bytes} bytes]`;
}

function aboutLink(block: RawObject): string {
  const uri = asString(memberOf(block, "uri")) ?? "";
  const name = asString(memberOf(block, "title")) ?? asString(memberOf(block, "name")) ?? uri;
  const description = asString(memberOf(block, "description"));
  return `[${name}](${uri})${description === undefined ? "" : ` – ${description}`}`;
}

/** Lowers a `content` member, a list of blocks or one; true when a block was replaced. */
export function lowerContent(holder: Draft, revision: LegacyRevision): boolean {
  const content = holder.get("content");
  if (content === undefined || isAtLeast(revision, "2025-06-18")) return false;
  const lowered = isArrayText(content)
    ? lowerBlocks(content, revision)
    : lowerBlock(content, revision);
  holder.set("content", lowered);
  return lowered !== content;
}

function lowerBlocks(content: JsonText, revision: LegacyRevision): JsonText {
  const before = elementsOf(content);
  const after = before.map((block) => lowerBlock(block, revision));
  return after.some((block, index) => block !== before[index]) ? `[${after.join(",")}]` : content;
}
