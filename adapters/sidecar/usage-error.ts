/**
 * The command line, the environment or the configuration asks for something that cannot be. The
 * message says what, the hint how to put it right; neither has a secret.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** Listening there would be a danger, and the operator did not say that it is meant. */
export class BindRefused extends Error {
  override readonly name = "BindRefused";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}
