import type { JsonText } from "../jsonrpc/json-text.js";
import type { Limits } from "../model/limits.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { createChannelLink } from "./channel-link.js";
import type { Link } from "./link.js";
import { type Look, type ProbeFinding, probeRequest } from "./probe.js";
import type { ReopeningTarget } from "./reopening.js";
import { probeSibling } from "./sibling-probe.js";
import { startTrial, type Trial } from "./trial.js";

/** Opens conversations with a server behind a channel, the first of them begun with the probe. */
export interface ChannelSource {
  /**
   * Looks at the server on a conversation that `open` hands out next. Waits for an answer for
   * `patienceMs` since the probe was sent; silence counts as legacy until something else is proved.
   * Rejects with BridgeError when the server cannot be started.
   */
  look(patienceMs: number): Promise<Look>;
  /** Starts the server without a question, for the next `open`. */
  prepare(): Promise<void>;
  /** Rejects with BridgeError `upstream-unavailable`. */
  open(): Promise<Link>;
  close(): Promise<void>;
}

export interface ChannelSourceOptions {
  readonly target: ReopeningTarget;
  readonly identity: JsonText;
  /** `sibling`: looks at a conversation of its own that is ended afterwards. */
  readonly probeMode: "in-place" | "sibling";
  /** The era was proved after silence, on a conversation in use. */
  readonly proved: (finding: ProbeFinding) => void;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly journal: Journal;
}

export function createChannelSource(options: ChannelSourceOptions): ChannelSource {
  const { target, clock } = options;
  const deps = { clock, limits: options.limits, journal: options.journal, name: target.name };
  const request = probeRequest(options.identity);
  let spare: Promise<Trial> | undefined;
  /** The server ended on the probe: it is started again at once, that being no crash. */
  let openAtOnce = false;

  const begin = async (asks: boolean): Promise<Trial> => {
    const trial = startTrial({
      ...deps,
      channel: await target.open(),
      probe: asks ? request : undefined,
      reopen: target.openNow,
      proved(finding) {
        // The session that has it gives it back for whoever speaks the other era.
        if (finding.type !== "legacy") spare = Promise.resolve(trial);
        options.proved(finding);
      },
    });
    return trial;
  };

  const spareTrial = (asks: boolean): Promise<Trial> => {
    if (spare === undefined) {
      const beginning = begin(asks);
      spare = beginning;
      beginning.catch(() => {
        if (spare === beginning) spare = undefined;
      });
    }
    return spare;
  };

  /** Undefined when nothing came until so long after the probe. */
  const answerOf = (trial: Trial, patienceMs: number) =>
    new Promise<Awaited<Trial["finding"]> | undefined>((resolve) => {
      const left = trial.startedAt + patienceMs - clock.now();
      const stop = clock.after(Math.max(0, left), () => resolve(undefined));
      void trial.finding.then((finding) => {
        stop();
        resolve(finding);
      });
    });

  return {
    async look(patienceMs) {
      if (options.probeMode === "sibling") {
        const look = await probeSibling({ ...deps, target, request });
        openAtOnce = !look.proven;
        return look;
      }
      const beginning = spareTrial(true);
      const finding = await answerOf(await beginning, patienceMs);
      if (finding === undefined) {
        return {
          finding: { type: "legacy", reason: "is silent on the probe" },
          proven: false,
          silent: true,
        };
      }
      if (finding.type !== "ended") return { finding, proven: true, silent: false };
      if (spare === beginning) spare = undefined;
      openAtOnce = true;
      const reason = `ends on the probe (${finding.detail})`;
      return { finding: { type: "legacy", reason }, proven: false, silent: false };
    },

    async prepare() {
      await spareTrial(false);
    },

    async open() {
      const trial = spare;
      spare = undefined;
      const link = await (await trial)?.lend();
      if (link !== undefined) return link;
      const channel = await (openAtOnce ? target.openNow() : target.open());
      openAtOnce = false;
      return createChannelLink({ ...deps, channel });
    },

    async close() {
      const trial = spare;
      spare = undefined;
      await trial?.then(
        (begun) => begun.close(),
        () => undefined,
      );
    },
  };
}
