import type { Draft } from "../jsonrpc/draft.js";
import { isArrayText, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt, memberOf, readObject } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";

/**
 * Rewrites the schema of an elicitation form for clients of 2025-06-18, who know plain strings,
 * numbers, booleans and `enum` with `enumNames`. Returns why that cannot be done.
 */
export function lowerFormSchema(schema: Draft): string | undefined {
  const properties = schema.object("properties");
  if (properties === undefined) return undefined;
  for (const name of properties.keys()) {
    const property = properties.object(name);
    if (property === undefined) continue;
    if (property.get("type") === '"array"') {
      return `the field ${name} takes several values, which this client cannot show`;
    }
    lowerChoices(property);
    if (property.get("type") !== '"boolean"') property.remove("default");
  }
  return undefined;
}

/** `oneOf` of `const` and `title` is younger than `enum` beside `enumNames`. */
function lowerChoices(property: Draft): void {
  const choices = property.get("oneOf");
  if (!isArrayText(choices)) return;
  const values: JsonText[] = [];
  const titles: JsonText[] = [];
  for (const choice of elementsOf(choices)) {
    const value = memberOf(readObject(choice), "const");
    if (value === undefined) return;
    values.push(value);
    titles.push(memberAt(choice, "title") ?? value);
  }
  property.remove("oneOf");
  property.set("enum", `[${values.join(",")}]`);
  property.set("enumNames", `[${titles.join(",")}]`);
}
