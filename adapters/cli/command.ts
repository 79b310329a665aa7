import type { Variables } from "../sidecar/expand.js";
import type { Options } from "./arguments.js";

/** What a command may touch of the process it runs in. */
export interface Terminal {
  readonly env: Variables;
  out(text: string): void;
  err(text: string): void;
  /** Columns of the terminal behind `out`; undefined where there is none. */
  readonly columns: number | undefined;
  /** A person reads `err`. */
  readonly interactive: boolean;
  /** Once called, the end of the process no longer waits for whoever reads `out`. */
  leaveUnread?(): void;
}

/** A command runs until it is done or asked to stop, and resolves with its exit code. */
export type Command = (options: Options, terminal: Terminal) => Promise<number>;
