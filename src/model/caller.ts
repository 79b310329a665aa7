import type { JsonText } from "../jsonrpc/json-text.js";

/** An authenticated identity. Nothing of one principal is ever observable by another. */
export type Principal = string & { readonly __principal: unique symbol };

export function toPrincipal(name: string): Principal {
  return name as Principal;
}

/** The user who started the bridge: everyone on stdio, everyone on a loopback bind without tokens. */
export const LOCAL_PRINCIPAL: Principal = toPrincipal("local");

/** Who asks: the principal, and what the client says of itself on this request. */
export interface Caller {
  readonly principal: Principal;
  /** True where callers cannot be told apart: they must then share nothing. */
  readonly anonymous: boolean;
  /** The client's `clientInfo` object, or undefined when it sent none. */
  readonly identity: JsonText | undefined;
  /** The client's capabilities object, as it came. */
  readonly capabilities: JsonText;
  /** Which of the caller's conversations this is, where the host says so. */
  readonly affinity: string | undefined;
  /** Inbound `Authorization`, only where the operator declares the bridge the same resource. */
  readonly authorization: string | undefined;
}

/** Whoever asks when nobody does: the bridge itself, as the local user without capabilities. */
export const NOBODY: Caller = {
  principal: LOCAL_PRINCIPAL,
  anonymous: false,
  identity: undefined,
  capabilities: "{}",
  affinity: undefined,
  authorization: undefined,
};
