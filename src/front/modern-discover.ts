import { BridgeError } from "../errors.js";
import { createDraft } from "../jsonrpc/draft.js";
import { type JsonText, toJsonText } from "../jsonrpc/json-text.js";
import type { Caller } from "../model/caller.js";
import { toFailed } from "../model/failure.js";
import type { Limits } from "../model/limits.js";
import type { Outcome } from "../model/operation.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";

export interface DiscoverDeps {
  readonly service: Service;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly revisions: readonly string[];
}

/**
 * Answers `server/discover` (2026-07-28/server/discover). A server that is still starting is no reason
 * to fail, since clients take an error for the other era: after `startTimeoutMs` the answer promises
 * nothing but the revisions, and may not be cached. Never rejects.
 */
export function discover(
  deps: DiscoverDeps,
  caller: Caller,
  signal: AbortSignal,
): Promise<Outcome> {
  const { service, clock, journal, limits, revisions } = deps;
  const supported = toJsonText(revisions);
  return new Promise((resolve) => {
    const settle = (outcome: Outcome): void => {
      stop();
      resolve(outcome);
    };
    const answerMinimal = (): void => {
      journal.warn("discover-without-server", { waitedMs: limits.startTimeoutMs });
      settle({ type: "complete", result: minimalResult(supported) });
    };
    const stop = clock.after(limits.startTimeoutMs, answerMinimal);
    service.describe(caller, signal).then(
      ({ result }) => {
        const draft = createDraft(result);
        draft.set("supportedVersions", supported);
        settle({ type: "complete", result: draft.text() });
      },
      (error: unknown) => {
        const starting = error instanceof BridgeError && error.code === "upstream-timeout";
        if (starting) answerMinimal();
        else settle(toFailed(error));
      },
    );
  });
}

function minimalResult(supported: JsonText): JsonText {
  return `{"resultType":"complete","supportedVersions":${supported},"capabilities":{},"ttlMs":0,"cacheScope":"private"}`;
}
