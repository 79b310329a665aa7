import type { JsonText } from "../jsonrpc/json-text.js";
import type { Limits } from "../model/limits.js";
import type { Clock, Stop } from "../ports/clock.js";
import type { HttpExchange, HttpHeaders } from "../ports/http.js";
import type { Journal } from "../ports/journal.js";
import { abort, startAnswerExchange } from "./answer-exchange.js";
import { createLegacyHttpHeaders } from "./legacy-http-headers.js";
import { judgeAnswer, judgeHttpLoss, type ProbeFinding, probeRequest } from "./probe.js";

export interface HttpProbeOptions {
  readonly url: string;
  readonly name: string;
  readonly exchange: HttpExchange;
  readonly headers: () => HttpHeaders;
  readonly relaysChallenges?: boolean | undefined;
  readonly identity: JsonText;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly journal: Journal;
}

/** Looks once at a server behind a URL. Never rejects; silence is an outage. */
export function probeHttp(options: HttpProbeOptions): Promise<ProbeFinding> {
  const http = { ...options, headers: createLegacyHttpHeaders(options.headers) };
  return new Promise((resolve) => {
    let stop: Stop | undefined;
    const found = (finding: ProbeFinding): void => {
      stop?.();
      resolve(finding);
    };
    const exchange = startAnswerExchange(http, probeRequest(options.identity), {
      call: () => undefined,
      answer: (_, message) => found(judgeAnswer(message)),
      lost: (_, loss) => found(judgeHttpLoss(loss)),
      elsewhere: () => false,
      over: () => undefined,
    });
    if (exchange.over) return;
    stop = options.clock.after(options.limits.startTimeoutMs, () => {
      abort(exchange);
      resolve({ type: "down", detail: "it did not answer in time" });
    });
  });
}
