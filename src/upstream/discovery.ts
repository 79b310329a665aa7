import { BridgeError } from "../errors.js";
import { createDraft } from "../jsonrpc/draft.js";
import {
  asNumber,
  asString,
  isArrayText,
  isObjectText,
  type JsonText,
} from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import type { Advertisement } from "../model/advertisement.js";
import type { Caller } from "../model/caller.js";
import { isModernRevision, NEWEST_MODERN } from "../model/era.js";
import type { Limits } from "../model/limits.js";
import { META_SERVER_INFO } from "../model/meta-keys.js";
import type { Clock } from "../ports/clock.js";
import { normalizeCapabilities } from "../translation/capabilities.js";

/** Keeps what a server says of itself for as long as it says so. */
export interface Discovery {
  /** What is still fresh for this caller. */
  recall(caller: Caller): Advertisement | undefined;
  /** Reads a discover result. Throws BridgeError when the server speaks no revision of ours. */
  learn(caller: Caller, result: JsonText): Advertisement;
}

export interface DiscoveryOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly limits: Pick<Limits, "maxSessions" | "verdictHorizonMs">;
}

interface Kept {
  readonly advertisement: Advertisement;
  readonly freshUntil: number;
}

/**
 * Results are kept by caller, for a server may tell each something else; one that is `public` is told
 * to all (2026-07-28/server/utilities/caching). Anonymous callers share only what is public.
 */
export function createDiscovery({ name, clock, limits }: DiscoveryOptions): Discovery {
  const kept = new Map<string, Kept>();

  const keyOf = ({ principal, capabilities }: Caller): string =>
    `${principal}\n${normalizeCapabilities(capabilities)}`;

  const fresh = (key: string): Advertisement | undefined => {
    const found = kept.get(key);
    if (found === undefined) return undefined;
    const leftMs = found.freshUntil - clock.now();
    if (leftMs > 0) return agedTo(found.advertisement, leftMs);
    kept.delete(key);
    return undefined;
  };

  const keep = (key: string, advertisement: Advertisement, ttlMs: number): void => {
    if (kept.size >= limits.maxSessions) {
      const oldest = kept.keys().next();
      if (!oldest.done) kept.delete(oldest.value);
    }
    kept.set(key, { advertisement, freshUntil: clock.now() + ttlMs });
  };

  return {
    recall: (caller) => fresh(PUBLIC) ?? (caller.anonymous ? undefined : fresh(keyOf(caller))),
    learn(caller, result) {
      const advertisement = toAdvertisement(result, name);
      const ttlMs = asNumber(memberAt(result, "ttlMs")) ?? 0;
      const isPublic = memberAt(result, "cacheScope") === '"public"';
      if (ttlMs > 0 && (isPublic || !caller.anonymous)) {
        const key = isPublic ? PUBLIC : keyOf(caller);
        keep(key, advertisement, Math.min(ttlMs, limits.verdictHorizonMs));
      }
      return advertisement;
    },
  };
}

/** No principal's name is empty. */
const PUBLIC = "";

/** A kept result goes out with the time that is left of its own. */
function agedTo(advertisement: Advertisement, leftMs: number): Advertisement {
  const draft = createDraft(advertisement.result);
  draft.set("ttlMs", `${leftMs}`);
  return { ...advertisement, result: draft.text() };
}

function toAdvertisement(result: JsonText, name: string): Advertisement {
  const capabilities = memberAt(result, "capabilities");
  if (!isObjectText(capabilities)) {
    throw new BridgeError("upstream-invalid", `${name} did not say what it can do`);
  }
  const supported = namesIn(memberAt(result, "supportedVersions"));
  if (supported.length > 0 && !supported.some(isModernRevision)) throw noRevision(name, supported);
  const serverInfo = memberAt(result, "_meta", META_SERVER_INFO);
  return {
    era: "modern",
    revision: NEWEST_MODERN,
    result,
    capabilities,
    serverInfo: isObjectText(serverInfo) ? serverInfo : undefined,
    instructions: memberAt(result, "instructions"),
  };
}

/** The revisions a list names, whatever else stands in it. */
export function namesIn(list: JsonText | undefined): readonly string[] {
  if (!isArrayText(list)) return [];
  return elementsOf(list).flatMap((element) => asString(element) ?? []);
}

export function noRevision(name: string, supported: readonly string[]): BridgeError {
  const speaks = supported.length === 0 ? "none the bridge knows" : supported.join(", ");
  return new BridgeError("not-bridgeable", `${name} speaks revisions ${speaks}`, {
    data: { supported },
  });
}
