import { BridgeError } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import { type Caller, NOBODY } from "../model/caller.js";
import type { Era } from "../model/era.js";
import type { Limits } from "../model/limits.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import type { ChannelTarget, HttpTarget, Target } from "../ports/target.js";
import { createChannelSource } from "./channel-source.js";
import { probeHttp } from "./http-probe.js";
import { createLegacyUrlLinks } from "./legacy-url-links.js";
import type { Link } from "./link.js";
import { createModernHttpLink } from "./modern-http-link.js";
import type { Look, ProbeFinding } from "./probe.js";
import { withPauses } from "./reopening.js";

/** Opens one more conversation with the server. Rejects with BridgeError. */
export type OpenLink = (caller: Caller, signal: AbortSignal) => Promise<Link>;

/** Looks at a server and opens conversations with it, whatever it stands behind. */
export interface EraSource {
  /** For a caller who waits. Rejects with BridgeError when a server cannot be started. */
  look(caller: Caller): Promise<Look>;
  /** With more patience, for nobody; undefined when nothing is known even so. */
  warm(): Promise<Look | undefined>;
  /** Starts the server without a question. */
  prepare(): Promise<void>;
  /**
   * The next conversation begins with another look. True where conversations were opened since the
   * last one, so that the verdict may be of a server that is no longer there.
   */
  doubt(): boolean;
  readonly openLegacy: OpenLink;
  readonly openModern: () => Promise<Link>;
  close(): Promise<void>;
}

export interface EraSourceOptions {
  readonly target: Target;
  readonly identity: JsonText;
  readonly probeMode: "in-place" | "sibling";
  readonly pinned: boolean;
  readonly current: () => { readonly era: Era; readonly at: number } | undefined;
  /** The era was proved on a conversation that was in use already. */
  readonly proved: (finding: ProbeFinding) => void;
  /** Takes a second look; true when the era is another one. Throws BridgeError. */
  readonly moved: (look: Look) => boolean;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly journal: Journal;
}

/** Without a caller who waits, a start may be this much slower before it counts as silence. */
const WARM_PATIENCE = 5;

export function createEraSource(options: EraSourceOptions): EraSource {
  return options.target.type === "http"
    ? createHttpEraSource(options, options.target)
    : createChannelEraSource(options, options.target);
}

function createHttpEraSource(options: EraSourceOptions, target: HttpTarget): EraSource {
  const links = createLegacyUrlLinks({ ...options, ...target });
  let flight: Promise<Look> | undefined;

  const lookNow = async (caller: Caller): Promise<Look> => {
    const headers = () => target.headers(caller);
    const finding = await probeHttp({ ...options, ...target, headers });
    return { finding, proven: finding.type === "modern", silent: false };
  };

  const look = async (caller: Caller): Promise<Look> => {
    if (flight !== undefined) {
      const shared = await flight;
      // Refused credentials are another caller's.
      if (shared.finding.type !== "unauthorized") return shared;
    }
    const mine = lookNow(caller);
    flight = mine;
    try {
      return await mine;
    } finally {
      if (flight === mine) flight = undefined;
    }
  };

  return {
    look,
    warm: () => look(NOBODY),
    prepare: () => Promise.resolve(),
    doubt: () => false,
    openLegacy: (caller) => links.open(() => target.headers(caller)),
    openModern: async () =>
      createModernHttpLink({ ...options, ...target, headers: () => target.headers(undefined) }),
    close: () => Promise.resolve(),
  };
}

function createChannelEraSource(options: EraSourceOptions, target: ChannelTarget): EraSource {
  const { clock, limits, current } = options;
  const source = createChannelSource({
    ...options,
    target: withPauses(target, { clock, limits }),
  });
  let doubted = false;
  /** Conversations since the last look. */
  let opened = 0;

  const look = (patienceMs: number): Promise<Look> => {
    doubted = false;
    opened = 0;
    return source.look(patienceMs);
  };

  const isDue = (era: Era): boolean => {
    const verdict = current();
    if (options.pinned || verdict?.era !== era) return false;
    return doubted || clock.now() - verdict.at >= limits.verdictHorizonMs;
  };

  const open = async (era: Era): Promise<Link> => {
    if (isDue(era)) {
      // A silent server is taken for legacy soon, but not one that was modern before.
      const patience = era === "legacy" ? limits.probeSilenceMs : limits.startTimeoutMs;
      if (options.moved(await look(patience))) {
        throw new BridgeError("upstream-unavailable", `${target.name} has changed its era`);
      }
    }
    opened += 1;
    return source.open();
  };

  return {
    look: () => look(limits.probeSilenceMs),
    async warm() {
      const found = await look(WARM_PATIENCE * limits.probeSilenceMs);
      // Silence proves nothing, and a caller who comes brings the `initialize` that would.
      return found.silent ? undefined : found;
    },
    prepare: () => source.prepare(),
    doubt() {
      doubted = true;
      return opened > 1;
    },
    openLegacy: () => open("legacy"),
    openModern: () => open("modern"),
    close: () => source.close(),
  };
}
