import type { Limits } from "../model/limits.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Entropy } from "../ports/entropy.js";
import type { Journal } from "../ports/journal.js";
import type { InFlight } from "./in-flight.js";

/** What every legacy session of an endpoint is made with. */
export interface LegacyFrontDeps {
  readonly service: Service;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly journal: Journal;
  readonly limits: Limits;
  /** For a server that does not name itself. */
  readonly upstreamName: string;
  /** Requests and notifications that neither era defines go to the server. */
  readonly forwardUnknown: boolean;
  /** Shared by all sessions of an endpoint. */
  readonly inFlight: InFlight;
}
