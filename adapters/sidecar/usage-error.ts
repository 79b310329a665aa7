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
