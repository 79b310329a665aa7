import type { JsonText } from "../jsonrpc/json-text.js";
import type { Era } from "./era.js";

/** What a server says of itself: an initialize result and a discover result in one shape. */
export interface Advertisement {
  readonly era: Era;
  /** The revision spoken with the server. */
  readonly revision: string;
  /** The whole DiscoverResult in the modern vocabulary. */
  readonly result: JsonText;
  /** Its `capabilities` object. */
  readonly capabilities: JsonText;
  /** The server's `serverInfo` object; undefined when a modern server keeps it to itself. */
  readonly serverInfo: JsonText | undefined;
  /** The text of the `instructions` string. */
  readonly instructions: JsonText | undefined;
}
