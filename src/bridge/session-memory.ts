import { asString, type JsonText, quote } from "../jsonrpc/json-text.js";
import { callText } from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { LinkRequest } from "../upstream/link.js";

/** What a client has agreed with a server in one session, and a new session has to learn again. */
export interface SessionMemory {
  /** Takes note of a request of the client that the server has answered with this result. */
  note(request: LinkRequest, result: JsonText): void;
  /** The requests that bring a new session to where the last one was; their ids are of the past. */
  requests(): readonly LinkRequest[];
  /** The client waits for changes of resources. */
  readonly watches: boolean;
  /** A notification for everything that may have changed unseen and that the client was promised to hear. */
  changes(): readonly JsonText[];
}

const LISTS = ["tools", "prompts", "resources"] as const;

/** Remembers the log level and at most `maxUris` subscriptions. */
export function createSessionMemory(maxUris: number): SessionMemory {
  const subscribed = new Map<string, LinkRequest>();
  let level: LinkRequest | undefined;
  let promised: JsonText | undefined;

  const uriOf = ({ text }: LinkRequest): string | undefined =>
    asString(memberAt(text, "params", "uri"));

  return {
    note(request, result) {
      const uri = uriOf(request);
      switch (request.method) {
        case "initialize":
          promised = memberAt(result, "capabilities");
          return;
        case "logging/setLevel":
          level = request;
          return;
        case "resources/subscribe":
          if (uri !== undefined && subscribed.size < maxUris) subscribed.set(uri, request);
          return;
        case "resources/unsubscribe":
          if (uri !== undefined) subscribed.delete(uri);
      }
    },
    requests: () => [...(level === undefined ? [] : [level]), ...subscribed.values()],
    get watches() {
      return subscribed.size > 0;
    },
    changes() {
      const lists = LISTS.filter((list) => memberAt(promised, list, "listChanged") === "true");
      return [
        ...lists.map((list) =>
          callText(undefined, `notifications/${list}/list_changed`, undefined),
        ),
        ...[...subscribed.keys()].map((uri) =>
          callText(undefined, "notifications/resources/updated", `{"uri":${quote(uri)}}`),
        ),
      ];
    },
  };
}
