import { createDraft, type Draft } from "../jsonrpc/draft.js";
import { asString, isArrayText, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberOf, readObject } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import { isAtLeast, type LegacyRevision } from "../model/era.js";
import type { InputMethod, InputRequest } from "../model/input-request.js";
import { META_INPUT_KEY } from "../model/meta-keys.js";
import { lowerBlock } from "./content-blocks.js";
import { lowerFormSchema } from "./form-schema.js";

export interface LowerInputRequestContext {
  readonly revision: LegacyRevision;
  /** For URL mode, which needs one in the legacy era; unique for each question. */
  readonly elicitationId: string;
}

export type LoweredInputRequest =
  | { readonly type: "lowered"; readonly params: JsonText }
  | { readonly type: "inexpressible"; readonly reason: string };

/** The params of a reverse request that asks a legacy client for what an input request wants. */
export function lowerInputRequest(
  request: InputRequest & { readonly method: InputMethod },
  context: LowerInputRequestContext,
): LoweredInputRequest {
  const draft = createDraft(request.params);
  const reason = lowerBody(request.method, draft, context);
  if (reason !== undefined) return { type: "inexpressible", reason };
  draft.ensureObject("_meta").set(META_INPUT_KEY, quote(request.key));
  return { type: "lowered", params: draft.text() };
}

function lowerBody(
  method: InputMethod,
  params: Draft,
  { revision, elicitationId }: LowerInputRequestContext,
): string | undefined {
  switch (method) {
    case "elicitation/create":
      if (asString(params.get("mode")) === "url") params.set("elicitationId", quote(elicitationId));
      return isAtLeast(revision, "2025-11-25") ? undefined : lowerForm(params);
    case "sampling/createMessage":
      if (!isAtLeast(revision, "2025-11-25")) lowerSamplingMessages(params, revision);
      return undefined;
    case "roots/list":
      return undefined;
  }
}

function lowerForm(params: Draft): string | undefined {
  params.remove("mode");
  const schema = params.object("requestedSchema");
  return schema === undefined ? undefined : lowerFormSchema(schema);
}

/** One block for each message, as revisions before 2025-11-25 have it. */
function lowerSamplingMessages(params: Draft, revision: LegacyRevision): void {
  const messages = params.get("messages");
  if (!isArrayText(messages)) return;
  const before = elementsOf(messages);
  const after = before.flatMap((message) => oneBlockEach(message, revision));
  if (after.length !== before.length || after.some((text, index) => text !== before[index])) {
    params.set("messages", `[${after.join(",")}]`);
  }
}

function oneBlockEach(message: JsonText, revision: LegacyRevision): readonly JsonText[] {
  const content = memberOf(readObject(message), "content");
  if (content === undefined) return [message];
  const blocks = isArrayText(content) ? elementsOf(content) : [content];
  return blocks.map((block) => {
    const draft = createDraft(message);
    draft.set("content", lowerBlock(block, revision));
    return draft.text();
  });
}
