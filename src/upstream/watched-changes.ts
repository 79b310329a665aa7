import { asString, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import {
  type Interest,
  type Notice,
  type Notices,
  PROMPTS_CHANGED,
  RESOURCE_UPDATED,
  RESOURCES_CHANGED,
  TOOLS_CHANGED,
} from "../model/notice.js";
import type { Clock, Stop } from "../ports/clock.js";

/** The part of an interest that a server can satisfy. */
export interface Honoured {
  /** Methods of the list notifications that are wanted and can come. */
  readonly lists: ReadonlySet<string>;
  /** URIs the server agreed to watch. */
  readonly uris: ReadonlySet<string>;
}

function isTrue(capabilities: JsonText, ...path: readonly string[]): boolean {
  return memberAt(capabilities, ...path) === "true";
}

/** The lists of an interest that the server announces changes of. */
export function honouredLists(interest: Interest, capabilities: JsonText): ReadonlySet<string> {
  const lists = new Set<string>();
  const add = (wanted: boolean, name: string, method: string): void => {
    if (wanted && isTrue(capabilities, name, "listChanged")) lists.add(method);
  };
  add(interest.toolsListChanged, "tools", TOOLS_CHANGED);
  add(interest.promptsListChanged, "prompts", PROMPTS_CHANGED);
  add(interest.resourcesListChanged, "resources", RESOURCES_CHANGED);
  return lists;
}

export function canSubscribe(capabilities: JsonText): boolean {
  return isTrue(capabilities, "resources", "subscribe");
}

/** The `notifications` object of an acknowledgement (2026-07-28/basic/patterns/subscriptions). */
export function honouredText({ lists, uris }: Honoured): JsonText {
  const members: string[] = [];
  if (lists.has(TOOLS_CHANGED)) members.push('"toolsListChanged":true');
  if (lists.has(PROMPTS_CHANGED)) members.push('"promptsListChanged":true');
  if (lists.has(RESOURCES_CHANGED)) members.push('"resourcesListChanged":true');
  if (uris.size > 0) members.push(`"resourceSubscriptions":[${[...uris].map(quote).join(",")}]`);
  return `{${members.join(",")}}`;
}

/** What a watcher that may have missed something is told: everything it watches changed. */
export function everythingChanged({ lists, uris }: Honoured): readonly Notice[] {
  return [
    ...[...lists].map((method) => ({ method, params: undefined })),
    ...[...uris].map((uri) => ({ method: RESOURCE_UPDATED, params: `{"uri":${quote(uri)}}` })),
  ];
}

export function uriOf(params: JsonText | undefined): string {
  return asString(memberAt(params, "uri")) ?? "";
}

/** Equal changes that follow each other closely, as one notice. */
export interface ChangeBuffer {
  add(notice: Notice): void;
  stop(): void;
}

export function createChangeBuffer(clock: Clock, ms: number, notices: Notices): ChangeBuffer {
  const pending = new Map<string, Notice>();
  let stop: Stop | undefined;

  const flush = (): void => {
    stop = undefined;
    const due = [...pending.values()];
    pending.clear();
    for (const notice of due) notices(notice);
  };

  return {
    add(notice) {
      const key = notice.method === RESOURCE_UPDATED ? uriOf(notice.params) : notice.method;
      pending.set(`${notice.method} ${key}`, notice);
      // Sent at the end of the pause: a client that looks after the first would miss the later ones.
      stop ??= clock.after(ms, flush);
    },
    stop() {
      stop?.();
      stop = undefined;
      pending.clear();
    },
  };
}
