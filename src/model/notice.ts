import type { JsonText } from "../jsonrpc/json-text.js";

/** A one-way message from the server, as method and params. */
export interface Notice {
  readonly method: string;
  /**
   * The params object. Progress carries no token here: each hop has its own, so a front writes the
   * one its client gave.
   */
  readonly params: JsonText | undefined;
}

/** Takes notices as they arrive. Must not throw. */
export type Notices = (notice: Notice) => void;

/** Which changes a watcher wants: the filter of `subscriptions/listen`. */
export interface Interest {
  readonly toolsListChanged: boolean;
  readonly promptsListChanged: boolean;
  readonly resourcesListChanged: boolean;
  /** URIs of resources. */
  readonly resourceSubscriptions: readonly string[];
  /** The filter object as it came, with members this bridge does not know. */
  readonly text: JsonText;
}

export const PROGRESS = "notifications/progress";
export const LOG_MESSAGE = "notifications/message";
export const TOOLS_CHANGED = "notifications/tools/list_changed";
export const PROMPTS_CHANGED = "notifications/prompts/list_changed";
export const RESOURCES_CHANGED = "notifications/resources/list_changed";
export const RESOURCE_UPDATED = "notifications/resources/updated";
