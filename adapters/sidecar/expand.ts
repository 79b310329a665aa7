export type Variables = Readonly<Record<string, string | undefined>>;

export interface Expansion {
  readonly text: string;
  /** Variables that are not set and have no default. */
  readonly missing: readonly string[];
}

/**
 * Replaces `${NAME}`, `${env:NAME}` and `${NAME:-default}` by the variable's value. A value is not
 * expanded again. `$NAME` without braces stays as it is.
 */
export function expandVariables(text: string, variables: Variables): Expansion {
  const missing: string[] = [];
  const pattern = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;
  const expanded = text.replace(pattern, (_, name: string, otherwise: string | undefined) => {
    const value = variables[name] || otherwise;
    if (value === undefined) missing.push(name);
    return value ?? "";
  });
  return { text: expanded, missing };
}
