import { LEGACY_REVISIONS, MODERN_REVISIONS } from "../model/era.js";

/** What a front serves. */
export interface Offer {
  /** Revisions in the order of preference, the modern ones first. */
  readonly revisions: readonly string[];
  /** Requests that neither era defines go to the server, which may know them. */
  readonly forwardUnknown: boolean;
}

/** The legacy revisions are offered where `initialize` is answered on the same endpoint or pipe. */
export function toOffer(servesLegacy: boolean, forwardUnknown: boolean): Offer {
  const revisions = servesLegacy ? [...MODERN_REVISIONS, ...LEGACY_REVISIONS] : MODERN_REVISIONS;
  return { revisions, forwardUnknown };
}
