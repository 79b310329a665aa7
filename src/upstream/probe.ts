import type { Challenge } from "../errors.js";
import {
  asNumber,
  asString,
  isArrayText,
  isObjectText,
  type JsonText,
} from "../jsonrpc/json-text.js";
import { callText, type ErrorMessage, type ResponseMessage } from "../jsonrpc/message.js";
import { memberAt, memberOf, readObject } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import { MODERN_REVISIONS, type ModernRevision, NEWEST_MODERN } from "../model/era.js";
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_PROTOCOL_VERSION,
} from "../model/meta-keys.js";
import {
  HEADER_MISMATCH,
  MISSING_CLIENT_CAPABILITY,
  UNSUPPORTED_PROTOCOL_VERSION,
} from "../model/wire-error.js";
import type { LinkLoss, LinkRequest } from "./link.js";

/** The id of the probe; sessions count their ids up from 1 and never come here. */
export const PROBE_ID = 2_147_483_647;

/** What one look at a server told. Only the first two are verdicts about its era. */
export type ProbeFinding =
  | {
      readonly type: "modern";
      readonly revision: ModernRevision;
      readonly reason: string;
      /** Its discover result, where it gave one. */
      readonly discovered: JsonText | undefined;
    }
  | { readonly type: "legacy"; readonly reason: string }
  /** Modern, with no revision in common. */
  | { readonly type: "incompatible"; readonly supported: readonly string[] }
  | {
      readonly type: "unauthorized";
      readonly detail: string;
      readonly challenge?: Challenge | undefined;
    }
  | { readonly type: "down"; readonly detail: string };

/** What a look at a server told, and whether the server said so itself. */
export interface Look {
  readonly finding: ProbeFinding;
  /** False where it was concluded from silence, or from an end. */
  readonly proven: boolean;
  /** Nothing came yet; something still may. */
  readonly silent: boolean;
}

/**
 * `server/discover` as the probe: the one request that no legacy server takes for something else
 * (2026-07-28/basic/transports/stdio, "Backward Compatibility").
 */
export function probeRequest(identity: JsonText): LinkRequest {
  const meta = `{"${META_PROTOCOL_VERSION}":"${NEWEST_MODERN}","${META_CLIENT_INFO}":${identity},"${META_CLIENT_CAPABILITIES}":{}}`;
  return {
    id: PROBE_ID,
    method: "server/discover",
    text: callText(String(PROBE_ID), "server/discover", `{"_meta":${meta}}`),
    headers: { "mcp-protocol-version": NEWEST_MODERN, "mcp-method": "server/discover" },
  };
}

/** Reads the answer to the probe. Whatever is not plainly modern is legacy. */
export function judgeAnswer(message: ResponseMessage | ErrorMessage): ProbeFinding {
  return message.type === "response" ? judgeResult(message.result) : judgeError(message.error);
}

function judgeResult(result: JsonText): ProbeFinding {
  const object = readObject(result);
  const supported = strings(memberOf(object, "supportedVersions"));
  if (supported === undefined || !isObjectText(memberOf(object, "capabilities"))) {
    return { type: "legacy", reason: "answered the probe with something else" };
  }
  return judgeSupported(supported, "answered server/discover", result);
}

function judgeError(error: JsonText): ProbeFinding {
  const code = asNumber(memberAt(error, "code")) ?? 0;
  const data = memberAt(error, "data");
  switch (code) {
    case UNSUPPORTED_PROTOCOL_VERSION: {
      const supported = strings(memberAt(data, "supported"));
      if (supported !== undefined) return judgeSupported(supported, `error ${code}`, undefined);
      break;
    }
    case MISSING_CLIENT_CAPABILITY:
      if (isObjectText(memberAt(data, "requiredCapabilities"))) return modernBy(code);
      break;
    case HEADER_MISMATCH:
      if (asString(memberAt(error, "message")) !== undefined) return modernBy(code);
      break;
  }
  return { type: "legacy", reason: `answered the probe with error ${code}` };
}

function modernBy(code: number): ProbeFinding {
  const reason = `error ${code}`;
  return { type: "modern", revision: NEWEST_MODERN, reason, discovered: undefined };
}

function judgeSupported(
  supported: readonly string[],
  reason: string,
  discovered: JsonText | undefined,
): ProbeFinding {
  const revision = MODERN_REVISIONS.find((known) => supported.includes(known));
  if (revision !== undefined) return { type: "modern", revision, reason, discovered };
  // Revisions are dates: a list of older ones only is a server that wants `initialize`.
  return supported.some((other) => other > NEWEST_MODERN)
    ? { type: "incompatible", supported }
    : { type: "legacy", reason: `${reason}, with older revisions only` };
}

function strings(text: JsonText | undefined): readonly string[] | undefined {
  if (!isArrayText(text)) return undefined;
  const values = elementsOf(text).map(asString);
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** Statuses of something in front of the server, or of a moment. */
const OUTAGES: readonly number[] = [408, 429, 502, 503, 504];

/**
 * Reads a probe over HTTP that brought no JSON-RPC answer (2026-07-28/basic/transports/streamable-http,
 * "Backward Compatibility": the body was looked at before). Servers refuse unknown methods with many
 * statuses, 500 among them; the `initialize` that follows tells them from servers that are broken.
 */
export function judgeHttpLoss({ kind, status = 0, detail, challenge }: LinkLoss): ProbeFinding {
  switch (kind) {
    case "unauthorized":
      return { type: "unauthorized", detail, challenge };
    case "not-sent":
    case "broken":
      return { type: "down", detail };
    case "rejected": {
      const passes = OUTAGES.includes(status) || status < 400 || status > 501;
      return passes
        ? { type: "down", detail }
        : { type: "legacy", reason: `refused the probe with HTTP status ${status}` };
    }
    case "session-gone":
    case "invalid":
      return { type: "legacy", reason: "answered the probe with no message" };
  }
}
