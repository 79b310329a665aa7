import { asString, isArrayText, isObjectText, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberOf, readObject } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";

/** Where the wrapped schema stands in its wrapper, as a JSON pointer. */
const INNER = "#/properties/result";

/** Keywords whose values are data: what looks like a reference there is none. */
const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);

/** Keywords whose values map names to schemas: the names are no keywords. */
const NAME_MAPS: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** Legacy revisions require `type: "object"` at the root of an output schema. */
export function hasObjectRoot(schema: JsonText): boolean {
  return memberOf(readObject(schema), "type") === '"object"';
}

/**
 * The schema of `{"result": value}`. References that point into the schema are moved with it; a
 * subschema with an `$id` of its own keeps them, for they are relative to that. `$schema` stays at the
 * root, where readers look for the dialect.
 */
export function wrapOutputSchema(schema: JsonText): JsonText {
  const root = readObject(schema);
  const dialect = memberOf(root, "$schema");
  const recursion =
    asString(dialect)?.includes("2019-09") === true &&
    memberOf(root, "$recursiveAnchor") !== "true";
  const inner = moveReferences(schema, recursion);
  const hoisted = dialect === undefined ? "" : `"$schema":${dialect},`;
  return `{${hoisted}"type":"object","properties":{"result":${inner}},"required":["result"]}`;
}

/** A new base makes references below it independent of where the schema stands. */
function hasOwnBase(id: JsonText | undefined): boolean {
  return id !== undefined && !(asString(id)?.startsWith("#") ?? false);
}

function movedReference(reference: JsonText): JsonText {
  const pointer = asString(reference);
  if (pointer === "#") return quote(INNER);
  return pointer?.startsWith("#/") ? quote(INNER + pointer.slice(1)) : reference;
}

function moveReferences(schema: JsonText, recursion: boolean): JsonText {
  const object = readObject(schema);
  if (object === undefined) return isArrayText(schema) ? moveAll(schema, recursion) : schema;
  if (hasOwnBase(memberOf(object, "$id"))) return schema;
  const turns = recursion && memberOf(object, "$recursiveRef") === '"#"';
  const members = object.members
    .filter(({ key }) => !(turns && key === "$recursiveRef"))
    .map(({ key, start, end }) => [key, moved(key, schema.slice(start, end), recursion)] as const);
  // Without a recursive anchor at the root `$recursiveRef` is a plain reference.
  return write(turns ? withReference(members) : members);
}

function moveAll(schemas: JsonText, recursion: boolean): JsonText {
  const moved = elementsOf(schemas).map((schema) => moveReferences(schema, recursion));
  return `[${moved.join(",")}]`;
}

type Member = readonly [key: string, value: JsonText];

/** Both a `$ref` of its own and the new one must hold: the new one then joins `allOf`. */
function withReference(members: readonly Member[]): readonly Member[] {
  const reference = quote(INNER);
  if (!members.some(([key]) => key === "$ref")) return [...members, ["$ref", reference]];
  const others = members.filter(([key]) => key !== "allOf");
  const all = members.find(([key]) => key === "allOf")?.[1];
  const joined = isArrayText(all) ? elementsOf(all) : [];
  return [...others, ["allOf", `[${[...joined, `{"$ref":${reference}}`].join(",")}]`]];
}

function write(members: readonly Member[]): JsonText {
  return `{${members.map(([key, value]) => `${quote(key)}:${value}`).join(",")}}`;
}

function moved(key: string, value: JsonText, recursion: boolean): JsonText {
  if (key === "$ref" || key === "$dynamicRef") return movedReference(value);
  if (DATA.has(key)) return value;
  if (!NAME_MAPS.has(key) || !isObjectText(value)) return moveReferences(value, recursion);
  const entries = (readObject(value)?.members ?? []).map(
    (entry) => [entry.key, moveReferences(value.slice(entry.start, entry.end), recursion)] as const,
  );
  return write(entries);
}
