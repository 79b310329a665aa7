/**
 * What happened, for operators: a name from a small vocabulary (kebab-case, countable) and plain
 * facts. Never a message body, never a secret.
 */
export interface Journal {
  debug(event: string, facts?: Readonly<Record<string, unknown>>): void;
  info(event: string, facts?: Readonly<Record<string, unknown>>): void;
  warn(event: string, facts?: Readonly<Record<string, unknown>>): void;
  error(event: string, facts?: Readonly<Record<string, unknown>>): void;
}
