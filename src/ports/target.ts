import type { Caller } from "../model/caller.js";
import type { Channel } from "./channel.js";
import type { HttpExchange, HttpHeaders } from "./http.js";

/** A server behind a duplex: a child process, or a WebSocket. Each `open` is a conversation of its own. */
export interface ChannelTarget {
  readonly type: "channel";
  /** For logs and synthesized identities: the command's or the host's name. */
  readonly name: string;
  /** True when opening starts a process that answers no second conversation. */
  readonly spawns: boolean;
  /** Rejects with BridgeError `upstream-unavailable`, or `upstream-unauthorized` where credentials are refused. */
  open(): Promise<Channel>;
}

/** A server behind a URL: Streamable HTTP, or HTTP+SSE where the specification says so. */
export interface HttpTarget {
  readonly type: "http";
  readonly name: string;
  readonly url: string;
  readonly exchange: HttpExchange;
  /** Headers the operator adds, credentials included; computed headers win over them. */
  headers(caller: Caller | undefined): HttpHeaders;
  /** Its refusals of credentials are for the client, whose credentials they are; default false. */
  readonly relaysChallenges?: boolean | undefined;
}

export type Target = ChannelTarget | HttpTarget;
