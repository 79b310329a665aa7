/** Stops a timer; harmless when it has fired or was stopped before. */
export type Stop = () => void;

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs the callback once after `ms`. A pending timer does not keep the process alive. */
  after(ms: number, callback: () => void): Stop;
}
