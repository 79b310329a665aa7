import { BridgeError } from "../errors.js";
import {
  type Era,
  isLegacyRevision,
  isModernRevision,
  LEGACY_REVISIONS,
  MODERN_REVISIONS,
} from "../model/era.js";

/** What the operator says of a server, so that nothing has to be asked. */
export interface EraPin {
  readonly era: Era;
  readonly revision: string | undefined;
}

/** Reads `legacy`, `modern` or a revision. Throws BridgeError `not-bridgeable`. */
export function toEraPin(text: string): EraPin {
  if (text === "legacy" || text === "modern") return { era: text, revision: undefined };
  if (isLegacyRevision(text)) return { era: "legacy", revision: text };
  if (isModernRevision(text)) return { era: "modern", revision: text };
  throw new BridgeError("not-bridgeable", `no era and no known revision: ${text}`, {
    data: { supported: ["legacy", "modern", ...MODERN_REVISIONS, ...LEGACY_REVISIONS] },
  });
}
