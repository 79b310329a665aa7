import { asString, isObjectText, toJsonText } from "../../jsonrpc/json-text.js";
import { memberOf, readObject } from "../../jsonrpc/raw-object.js";
import { isLegacyRevision } from "../../model/era.js";
import type { Sealer } from "../../ports/sealer.js";
import type { Handshake } from "../legacy-handshake.js";

/** What a session id says to whoever holds the key. */
export interface SessionTicket {
  /** The instance that issued it. */
  readonly instance: string;
  readonly nonce: string;
  readonly principal: string;
  readonly anonymous: boolean;
  /** Milliseconds since the epoch; an instance that does not know the session takes it until then. */
  readonly expiresAt: number;
  /** Undefined where it was too long for a header: then only the instance that issued it can serve it. */
  readonly handshake: Handshake | undefined;
}

/** Servers refuse requests whose headers are longer than 8 or 16 KiB together. */
const MAX_ID_LENGTH = 4_096;

/** Writes the id of a session: visible ASCII that tells its reader nothing. */
export function sealSessionId(ticket: SessionTicket, sealer: Sealer): string {
  const whole = sealer.seal(ticketText(ticket));
  if (whole.length <= MAX_ID_LENGTH) return whole;
  return sealer.seal(ticketText({ ...ticket, handshake: undefined }));
}

function ticketText({ handshake, ...facts }: SessionTicket): string {
  const head = PURPOSE + toJsonText(facts).slice(0, -1);
  if (handshake === undefined) return `${head}}`;
  const { revision, capabilities, identity } = handshake;
  const tail = identity === undefined ? "" : `,"identity":${identity}`;
  return `${head},"revision":"${revision}","capabilities":${capabilities}${tail}}`;
}

/** Keeps what was sealed for another purpose from passing for a session id. */
const PURPOSE = "legacy-session ";

/** Reads an id; undefined for one that this key did not write. */
export function openSessionId(id: string, sealer: Sealer): SessionTicket | undefined {
  const plain = sealer.open(id);
  if (!plain?.startsWith(PURPOSE)) return undefined;
  const object = readObject(plain.slice(PURPOSE.length));
  const text = (key: string): string | undefined => asString(memberOf(object, key));
  const revision = text("revision");
  const capabilities = memberOf(object, "capabilities");
  const known = isLegacyRevision(revision) && isObjectText(capabilities);
  return {
    instance: text("instance") ?? "",
    nonce: text("nonce") ?? "",
    principal: text("principal") ?? "",
    anonymous: memberOf(object, "anonymous") === "true",
    expiresAt: Number(memberOf(object, "expiresAt")),
    handshake: known
      ? { revision, capabilities, identity: memberOf(object, "identity") }
      : undefined,
  };
}
