/**
 * What can go wrong in the bridge itself, with what the operator can do about it.
 *
 * - `upstream-unavailable`: the server cannot be reached or started; look at its own log.
 * - `upstream-lost`: it answered before and went away in the middle; the operation may have completed.
 * - `upstream-timeout`: it did not answer in time; raise `--request-timeout` or look at the server.
 * - `upstream-invalid`: it sent something that is no legal answer; report it to the server's authors.
 * - `upstream-unauthorized`: it wants other credentials; set them with `--header` or `--env`.
 * - `not-bridgeable`: no revision both sides speak, or a feature that cannot cross.
 * - `overloaded`: a limit of the bridge is reached; see `Limits`.
 * - `request-refused`: the client's request cannot be served as it is; the message says why.
 * - `cancelled`: the client took the request back; nobody reads this.
 * - `closed`: the bridge is shutting down.
 */
export type BridgeErrorCode =
  | "upstream-unavailable"
  | "upstream-lost"
  | "upstream-timeout"
  | "upstream-invalid"
  | "upstream-unauthorized"
  | "not-bridgeable"
  | "overloaded"
  | "request-refused"
  | "cancelled"
  | "closed";

/** How a server refused the credentials of a client that the bridge had passed on (RFC 9110, 11.6.1). */
export interface Challenge {
  readonly status: 401 | 403;
  /** `WWW-Authenticate` as it came, several joined with ", "; undefined where there was none. */
  readonly authenticate: string | undefined;
}

/** An error the bridge raises itself. Messages name the limit or the peer, never a secret or a body. */
export class BridgeError extends Error {
  override readonly name = "BridgeError";
  readonly code: BridgeErrorCode;
  /** Plain facts for the peer, sent as `error.data` with the code as `reason`. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Only where the client's own credentials were refused; it is no part of `data`. */
  readonly challenge: Challenge | undefined;

  constructor(
    code: BridgeErrorCode,
    message: string,
    options: {
      readonly cause?: unknown;
      readonly data?: Readonly<Record<string, unknown>>;
      readonly challenge?: Challenge | undefined;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data ?? {};
    this.challenge = options.challenge;
  }
}
