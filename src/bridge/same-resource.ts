import { BridgeError } from "../errors.js";
import type { HttpTarget, Target } from "../ports/target.js";

/**
 * A server to whose clients the bridge is the server itself: it gets their credentials and none of the
 * operator's, and what it says of them is for them. Throws BridgeError `not-bridgeable` for a server
 * that is not behind HTTP: elsewhere no request has credentials of its own.
 */
export function toSameResource(target: Target): HttpTarget {
  if (target.type !== "http") {
    const text = `${target.name} is not behind HTTP: no client's credentials can be passed on to it`;
    throw new BridgeError("not-bridgeable", text);
  }
  return {
    type: "http",
    name: target.name,
    url: target.url,
    exchange: target.exchange,
    relaysChallenges: true,
    headers(caller) {
      const { authorization: _, ...headers } = target.headers(caller);
      const authorization = caller?.authorization;
      return authorization === undefined ? headers : { ...headers, authorization };
    },
  };
}
