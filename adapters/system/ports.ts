import type { Clock, Entropy, Sealer } from "../../src/index.js";
import { createSystemClock } from "./clock.js";
import { createSystemEntropy } from "./entropy.js";
import { createPinoJournal, type PinoJournal, type PinoJournalOptions } from "./pino-journal.js";
import { createSealer, type SealerOptions } from "./sealer.js";

/** What a bridge needs of the system, but for its server. */
export interface SystemPorts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly sealer: Sealer;
  readonly journal: PinoJournal;
}

/** The machine's clock and randomness, a sealer, and a log on standard error. */
export function createSystemPorts(options: SealerOptions & PinoJournalOptions = {}): SystemPorts {
  return {
    clock: createSystemClock(),
    entropy: createSystemEntropy(),
    sealer: createSealer(options),
    journal: createPinoJournal(options),
  };
}
