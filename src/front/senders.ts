import { type Principal, toPrincipal } from "../model/caller.js";
import type { Sealer } from "../ports/sealer.js";
import type { Sender } from "./modern-request.js";

/** What is known of a sender before its credentials are weighed. */
export interface Claims {
  /** Whom the transport's own check let in. */
  readonly principal: Principal;
  readonly anonymous: boolean;
  readonly affinity: string | undefined;
  /** The value of its `Authorization`. */
  readonly authorization: string | undefined;
}

/** Decides who a sender is, and whether its credentials go any further. */
export type Senders = (claims: Claims) => Sender;

/** Credentials are for the bridge: they end here. */
export const ownSenders: Senders = ({ principal, anonymous, affinity }) => ({
  principal,
  anonymous,
  affinity,
  authorization: undefined,
});

/**
 * Credentials are for the server, and only the server can judge them: two values are two principals,
 * however alike, and whoever sends none cannot be told from others who send none.
 */
export function createSharedSenders(sealer: Sealer): Senders {
  return (claims) => {
    const { principal, authorization } = claims;
    if (authorization === undefined || authorization === "") {
      return { ...claims, anonymous: true, authorization: undefined };
    }
    const fingerprint = sealer.fingerprint(`authorization ${authorization}`);
    return { ...claims, anonymous: false, principal: toPrincipal(`${principal} ${fingerprint}`) };
  };
}
