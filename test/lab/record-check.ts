import {
  type CallRecord,
  LIST_NAMES,
  type ListName,
  type ListRecord,
  type ServerRecord,
} from "./catalogue.js";
import type { Reply } from "./client.js";
import { canonical, digest, type Json } from "./json.js";
import type { ListSeen, Observation } from "./observe.js";
import { keysOf, shapeOf } from "./shape.js";

function failureCode(failure: Reply | undefined): Json | undefined {
  if (failure === undefined || "result" in failure) return undefined;
  return "error" in failure ? failure.error["code"] : failure.nothing;
}

function listProblem(
  name: ListName,
  was: ListRecord | undefined,
  is: ListSeen | undefined,
): string | undefined {
  if (was === undefined || is === undefined)
    return was === is ? undefined : `${name} ${is === undefined ? "missing" : "new"}`;
  const code = failureCode(is.failure);
  if (was.error !== undefined || code !== undefined)
    return canonical(was.error) === canonical(code) ? undefined : `${name} failed with ${code}`;
  if (was.count !== is.items.length) return `${name}: ${is.items.length}, not ${was.count}`;
  if (was.names !== digest(keysOf(name, is.items))) return `${name}: other names`;
  return was.stable !== false && was.digest !== digest(is.items)
    ? `${name}: other contents`
    : undefined;
}

function callProblem(was: CallRecord, is: Reply | undefined): string | undefined {
  if (is === undefined) return `${was.name} not called`;
  const shape = canonical(shapeOf(is));
  if (shape !== canonical(was.shape)) return `${was.name}: shape ${shape}`;
  const value = "result" in is ? is.result : "error" in is ? is.error : null;
  return was.stable && digest(value) !== was.digest ? `${was.name}: another result` : undefined;
}

/** In what a direct run differs from what `servers.json` says; empty when in nothing. */
export function differencesFromRecord(
  record: ServerRecord,
  { opening, lists, calls }: Observation,
): readonly string[] {
  if (!("result" in opening)) return [`initialize: ${JSON.stringify(opening)}`];
  const revision = opening.result["protocolVersion"];
  const problems = [
    revision === record.revision ? undefined : `revision ${revision}, not ${record.revision}`,
    ...LIST_NAMES.map((name) => listProblem(name, record.lists[name], lists[name])),
    ...record.calls.map((call, index) => callProblem(call, calls[index])),
  ];
  return problems.filter((problem) => problem !== undefined);
}
