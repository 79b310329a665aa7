/** Every exit code of `erabridge`. */
export const EXIT = {
  /** It did what was asked; for `serve` and `wrap`, it was asked to stop and stopped in good order. */
  ok: 0,
  /** A fault of the bridge itself. */
  internal: 1,
  /** The command line, an environment variable or the configuration file is wrong. */
  usage: 2,
  /** The server cannot be started or reached. */
  upstream: 3,
  /** Both sides work, but no revision or feature leads from one to the other. */
  notBridgeable: 4,
  /** The port is taken, or binding there is refused. */
  bind: 5,
} as const;

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/** What a shell expects of a program that a signal ended: 130 for SIGINT, 143 for SIGTERM. */
export function exitCodeOf(signal: string): number {
  return 128 + (SIGNAL_NUMBERS[signal] ?? 0);
}
