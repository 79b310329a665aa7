import { LIST_NAMES, LISTS, type ListName, type ServerRecord } from "./catalogue.js";
import type { Reply } from "./client.js";
import type { FurtherRequest } from "./further.js";
import { canonical, firstDifference, isObject, type Json, type JsonObject } from "./json.js";
import { bare, expectedDiscovery, expectedReply, expectedTool } from "./modern-view.js";
import type { ListSeen, Observation } from "./observe.js";
import { keysOf, shapeOf } from "./shape.js";

/** Something that is not as in the direct run: for a named reason, or a fault. */
export interface Finding {
  readonly where: string;
  readonly kind: "rule" | "notice" | "unstable" | "server" | "fault";
  readonly what: string;
}

export interface Runs {
  readonly direct: Observation;
  readonly bridged: Observation;
  /** A second direct run: what differs between the two is the server's doing. */
  readonly again?: Observation;
}

interface Context {
  readonly record: ServerRecord;
  readonly serverInfo: Json | undefined;
  readonly findings: Finding[];
}

const emptyMeta = (result: JsonObject): JsonObject => {
  const { _meta, ...rest } = result;
  return isObject(_meta) && Object.keys(_meta).length === 0 ? rest : result;
};

const isStable = (one: unknown, again: unknown): boolean =>
  again === undefined || JSON.stringify(one) === JSON.stringify(again);

/** Takes the stamps off; what is wrong with them becomes a finding. */
function unstamped(
  { record, serverInfo, findings }: Context,
  where: string,
  method: string,
  result: JsonObject,
): JsonObject {
  const plain = bare(method, result, serverInfo);
  // A server that is modern itself chooses its own cache hints and identity.
  const faults = record.era === "dual" ? [] : plain.faults;
  for (const what of faults) findings.push({ where, kind: "fault", what });
  for (const what of plain.notices) findings.push({ where, kind: "notice", what });
  return plain.result;
}

function compareOpening(context: Context, { direct, bridged }: Runs): void {
  const where = "server/discover";
  const { findings, record } = context;
  if (!("result" in direct.opening)) return;
  if (!("result" in bridged.opening)) {
    findings.push({ where, kind: "fault", what: canonical({ ...bridged.opening }) });
    return;
  }
  const { value, rules } = expectedDiscovery(emptyMeta(direct.opening.result));
  for (const what of rules) findings.push({ where, kind: "rule", what });
  const seen = unstamped(context, where, where, bridged.opening.result);
  const names = record.era === "dual" ? ["instructions"] : Object.keys({ ...value, ...seen });
  for (const name of names) {
    const what = firstDifference(value[name], seen[name], name);
    if (what !== undefined) findings.push({ where, kind: "fault", what });
  }
}

function compareReplies(
  context: Context,
  { where, ...request }: FurtherRequest & { readonly where: string },
  direct: Reply,
  bridged: Reply,
  stable: boolean,
): void {
  const { findings } = context;
  const expected = expectedReply(request, direct);
  for (const what of expected.rules) findings.push({ where, kind: "rule", what });
  const wanted =
    "result" in expected.value ? { result: emptyMeta(expected.value.result) } : expected.value;
  const seen =
    "result" in bridged
      ? { result: unstamped(context, where, request.method, bridged.result) }
      : bridged;
  const difference = firstDifference({ ...wanted }, { ...seen });
  if (difference === undefined) return;
  if (stable) {
    findings.push({ where, kind: "fault", what: difference });
    return;
  }
  const other = firstDifference(shapeOf(wanted), shapeOf(seen), "shape");
  findings.push(
    other === undefined
      ? { where, kind: "unstable", what: `same shape; ${difference}` }
      : { where, kind: "fault", what: other },
  );
}

function compareLists(
  context: Context,
  name: ListName,
  direct: ListSeen,
  bridged: ListSeen,
  stable: boolean,
): void {
  const { findings } = context;
  const where = LISTS[name].method;
  const tools = direct.items.map((item) =>
    name === "tools" ? expectedTool(item) : { value: item, rules: [] },
  );
  const rules = tools.flatMap((tool) => tool.rules);
  for (const rule of new Set(rules)) {
    const times = rules.filter((one) => one === rule).length;
    findings.push({ where, kind: "rule", what: `${rule} (${times})` });
  }
  const expected = tools.map((tool) => tool.value);
  const what = firstDifference(expected, bridged.items, "items");
  if (what !== undefined && stable) findings.push({ where, kind: "fault", what });
  else if (what !== undefined) {
    const other = firstDifference(keysOf(name, expected), keysOf(name, bridged.items), "keys");
    findings.push(
      other === undefined
        ? { where, kind: "unstable", what: `same keys; ${what}` }
        : { where, kind: "fault", what: other },
    );
  }
  const pages = bridged.pages.map((page) => unstamped(context, where, where, page));
  const rest = firstDifference(direct.pages.map(emptyMeta), pages, "pages");
  if (rest !== undefined) findings.push({ where, kind: "fault", what: rest });
  if (direct.failure !== undefined && bridged.failure !== undefined)
    compareReplies(
      context,
      { where, method: where, params: {} },
      direct.failure,
      bridged.failure,
      stable,
    );
  else if (direct.failure !== bridged.failure) {
    const only = direct.failure === undefined ? "through the bridge" : "directly";
    const failure = { ...(direct.failure ?? bridged.failure) };
    findings.push({ where, kind: "fault", what: `fails ${only} only: ${canonical(failure)}` });
  }
}

function compareFurther(context: Context, { direct, bridged, again }: Runs): void {
  for (const [index, { method, params, reply }] of direct.further.entries()) {
    const where = `${method} ${params["uri"] ?? params["name"] ?? ""}`.trimEnd();
    const other = bridged.further[index];
    if (other === undefined) continue;
    const stable = isStable(reply, again?.further[index]?.reply);
    compareReplies(context, { where, method, params }, reply, other.reply, stable);
  }
}

function compareEnds({ findings }: Context, { direct, bridged }: Runs): void {
  const { closing } = bridged;
  const fault = (what: string) => findings.push({ where: "the bridge", kind: "fault", what });
  const own = (what: string) =>
    findings.push({ where: "the server", kind: "server", what: `${what}, directly too` });
  for (const { what, detail } of closing.offences) {
    if (direct.closing.offences.some((offence) => offence.what === what)) own(what);
    else fault(`${what}: ${detail}`);
  }
  if (closing.by !== "end of input") fault(`ended by ${closing.by}`);
  else if (closing.code !== 0) fault(`exit code ${closing.code}`);
  for (const program of closing.leftovers) {
    const what = `left running: ${program}`;
    // A daemon that the server puts into a session of its own outlives whoever started the server.
    if (direct.closing.leftovers.includes(program)) own(what);
    else fault(what);
  }
}

/** Each way in which the run through the bridge is not the direct run. */
export function compareRuns(record: ServerRecord, runs: Runs): readonly Finding[] {
  const { direct, bridged, again } = runs;
  const serverInfo = "result" in direct.opening ? direct.opening.result["serverInfo"] : undefined;
  const context: Context = { record, serverInfo, findings: [] };
  compareOpening(context, runs);
  for (const name of LIST_NAMES) {
    const one = direct.lists[name];
    const other = bridged.lists[name];
    if (one === undefined && other === undefined) continue;
    const stable = record.lists[name]?.stable !== false && isStable(one, again?.lists[name]);
    if (one === undefined || other === undefined) {
      const what = other === undefined ? "is not offered" : "is offered by the bridge only";
      context.findings.push({ where: LISTS[name].method, kind: "fault", what });
    } else compareLists(context, name, one, other, stable);
  }
  for (const [index, call] of record.calls.entries()) {
    const [one, other] = [direct.calls[index], bridged.calls[index]];
    if (one === undefined || other === undefined) continue;
    const subject = { where: `tools/call ${call.name}`, method: "tools/call", params: {} };
    const stable = call.stable && isStable(one, again?.calls[index]);
    compareReplies(context, subject, one, other, stable);
  }
  compareFurther(context, runs);
  compareEnds(context, runs);
  return context.findings;
}
