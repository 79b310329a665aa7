import { type LegacyRevision, NEWEST_LEGACY } from "../../model/era.js";

/** Who sends a message and whether it wants an answer. */
export type Direction =
  | "client-request"
  | "client-notification"
  | "server-request"
  | "server-notification";

/** The revision in which a method appeared. None was taken away before the era ended. */
type Registry = Readonly<Record<Direction, Readonly<Record<string, LegacyRevision>>>>;

/**
 * All that exists on a legacy wire. What is not listed here is not of this era: there is no second
 * list of removed or foreign methods that could disagree with it.
 */
const REGISTRY: Registry = {
  "client-request": {
    initialize: "2024-11-05",
    ping: "2024-11-05",
    "completion/complete": "2024-11-05",
    "logging/setLevel": "2024-11-05",
    "prompts/get": "2024-11-05",
    "prompts/list": "2024-11-05",
    "resources/list": "2024-11-05",
    "resources/read": "2024-11-05",
    "resources/subscribe": "2024-11-05",
    "resources/templates/list": "2024-11-05",
    "resources/unsubscribe": "2024-11-05",
    "tools/call": "2024-11-05",
    "tools/list": "2024-11-05",
    "tasks/cancel": "2025-11-25",
    "tasks/get": "2025-11-25",
    "tasks/list": "2025-11-25",
    "tasks/result": "2025-11-25",
  },
  "client-notification": {
    "notifications/cancelled": "2024-11-05",
    "notifications/initialized": "2024-11-05",
    "notifications/progress": "2024-11-05",
    "notifications/roots/list_changed": "2024-11-05",
    "notifications/tasks/status": "2025-11-25",
  },
  "server-request": {
    ping: "2024-11-05",
    "roots/list": "2024-11-05",
    "sampling/createMessage": "2024-11-05",
    "elicitation/create": "2025-06-18",
    "tasks/cancel": "2025-11-25",
    "tasks/get": "2025-11-25",
    "tasks/list": "2025-11-25",
    "tasks/result": "2025-11-25",
  },
  "server-notification": {
    "notifications/cancelled": "2024-11-05",
    "notifications/message": "2024-11-05",
    "notifications/progress": "2024-11-05",
    "notifications/prompts/list_changed": "2024-11-05",
    "notifications/resources/list_changed": "2024-11-05",
    "notifications/resources/updated": "2024-11-05",
    "notifications/tools/list_changed": "2024-11-05",
    "notifications/elicitation/complete": "2025-11-25",
    "notifications/tasks/status": "2025-11-25",
  },
};

/** Does the legacy revision (the newest, unless told) know the method in that direction? */
export function isLegacyMethod(
  direction: Direction,
  method: string,
  revision: LegacyRevision = NEWEST_LEGACY,
): boolean {
  const methods = REGISTRY[direction];
  if (!Object.hasOwn(methods, method)) return false;
  const since = methods[method];
  return since !== undefined && revision >= since;
}
