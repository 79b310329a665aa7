/** What a modern request is known for besides its name. */
export interface RequestTraits {
  /** The member of `params` that the header `Mcp-Name` repeats. */
  readonly named?: "name" | "uri" | "taskId";
  /** The extension the client must have declared to use the method. */
  readonly extension?: string;
}

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

const PLAIN: RequestTraits = {};
const NAMED: RequestTraits = { named: "name" };
const TASK: RequestTraits = { named: "taskId", extension: TASKS_EXTENSION };

/**
 * Every request a client may send in this era (2026-07-28/schema, `ClientRequest`, and the tasks
 * extension). What is not here does not exist: removed methods are answered like ones never defined.
 * Servers send no requests.
 */
export const MODERN_REQUESTS: ReadonlyMap<string, RequestTraits> = new Map([
  ["server/discover", PLAIN],
  ["subscriptions/listen", PLAIN],
  ["tools/list", PLAIN],
  ["tools/call", NAMED],
  ["prompts/list", PLAIN],
  ["prompts/get", NAMED],
  ["resources/list", PLAIN],
  ["resources/templates/list", PLAIN],
  ["resources/read", { named: "uri" }],
  ["completion/complete", PLAIN],
  ["tasks/get", TASK],
  ["tasks/update", TASK],
  ["tasks/cancel", TASK],
]);

/** Every notification a client may send. */
export const MODERN_CLIENT_NOTIFICATIONS: ReadonlySet<string> = new Set([
  "notifications/cancelled",
]);

/** On which kind of stream a server's notification travels. */
export type NoticeScope = "request" | "listen";

/** Every notification a server may send (2026-07-28/basic/patterns/subscriptions, …/progress). */
export const MODERN_SERVER_NOTIFICATIONS: ReadonlyMap<string, NoticeScope> = new Map([
  ["notifications/progress", "request"],
  ["notifications/message", "request"],
  ["notifications/cancelled", "listen"],
  ["notifications/subscriptions/acknowledged", "listen"],
  ["notifications/tools/list_changed", "listen"],
  ["notifications/prompts/list_changed", "listen"],
  ["notifications/resources/list_changed", "listen"],
  ["notifications/resources/updated", "listen"],
  ["notifications/tasks", "listen"],
]);
