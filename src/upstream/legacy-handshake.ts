import { BridgeError } from "../errors.js";
import { createDraft } from "../jsonrpc/draft.js";
import { asString, isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Caller } from "../model/caller.js";
import {
  isAtLeast,
  isLegacyRevision,
  LEGACY_REVISIONS,
  type LegacyRevision,
  NEWEST_LEGACY,
} from "../model/era.js";
import type { WireError } from "../model/wire-error.js";
import { toLegacyCapabilities } from "../translation/capabilities.js";
import { toBridgeError } from "./exchange.js";
import { askServer, type LegacyConversation, type RequestTimes } from "./legacy-conversation.js";

/** What both sides agreed on. */
export interface Handshake {
  readonly conversation: LegacyConversation;
  readonly revision: LegacyRevision;
  /** The whole `initialize` result. */
  readonly result: JsonText;
}

export interface HandshakeOptions {
  /** Opens one more conversation; each is closed again unless the handshake returns it. */
  readonly open: () => Promise<LegacyConversation>;
  readonly caller: Caller;
  /** What the bridge calls itself for callers that do not say who they are. */
  readonly identity: JsonText;
  readonly times: RequestTimes;
  readonly signal: AbortSignal;
}

/** `initialize` needs a name and a version where a modern client may leave both out. */
function clientInfoOf({ identity }: Caller, own: JsonText): JsonText {
  const named = asString(memberAt(identity, "name")) !== undefined;
  return identity !== undefined && named && asString(memberAt(identity, "version")) !== undefined
    ? identity
    : own;
}

/** Does the client take URLs but no forms? */
function isUrlOnly(capabilities: JsonText): boolean {
  const elicitation = memberAt(capabilities, "elicitation");
  return isObjectText(memberAt(elicitation, "url")) && !isObjectText(memberAt(elicitation, "form"));
}

function withoutElicitation(capabilities: JsonText): JsonText {
  const draft = createDraft(capabilities);
  draft.remove("elicitation");
  return draft.text();
}

/** Servers that refuse a revision instead of offering theirs name it in `data` or in the message. */
function revisionNamedIn(error: WireError, tried: LegacyRevision): LegacyRevision | undefined {
  return LEGACY_REVISIONS.find((known) => known !== tried && error.text.includes(known));
}

function refusal(name: string, error: WireError): BridgeError {
  const message = asString(memberAt(error.text, "message"))?.slice(0, 200) ?? "";
  const text = `${name} refused initialize with error ${error.code}: ${message}`;
  return new BridgeError("upstream-unavailable", text, { data: { code: error.code } });
}

type Agreement = { readonly revision: LegacyRevision; readonly result: JsonText };

async function agree(
  conversation: LegacyConversation,
  capabilities: JsonText,
  { caller, identity, times }: HandshakeOptions,
): Promise<Agreement> {
  let offered: LegacyRevision = NEWEST_LEGACY;
  for (let attempt = 1; ; attempt++) {
    const params = `{"protocolVersion":"${offered}","capabilities":${capabilities},"clientInfo":${clientInfoOf(caller, identity)}}`;
    const answer = await askServer(conversation, "initialize", params, times);
    switch (answer.type) {
      case "lost":
        throw toBridgeError(answer.loss, conversation.name);
      case "error": {
        const other = revisionNamedIn(answer.error, offered);
        if (attempt > 1 || other === undefined) throw refusal(conversation.name, answer.error);
        offered = other;
        break;
      }
      case "result": {
        const revision = asString(memberAt(answer.result, "protocolVersion"));
        if (isLegacyRevision(revision)) return { revision, result: answer.result };
        const spoken = (revision ?? "no revision").slice(0, 40);
        throw new BridgeError("not-bridgeable", `${conversation.name} speaks ${spoken}`, {
          data: { supported: LEGACY_REVISIONS },
        });
      }
    }
  }
}

/**
 * The handshake of 2025-11-25/basic/lifecycle, up to the moment where the first request may go out.
 * Offers the newest revision, takes every known counter-offer, and tries once more with a revision
 * that an error answer names. Rejects with BridgeError.
 */
export async function shakeHands(options: HandshakeOptions): Promise<Handshake> {
  let capabilities = toLegacyCapabilities(options.caller.capabilities);
  for (;;) {
    const conversation = await options.open();
    const giveUp = (): void => void conversation.link.close();
    options.signal.addEventListener("abort", giveUp, { once: true });
    try {
      const agreed = await agree(conversation, capabilities, options);
      if (isUrlOnly(capabilities) && !isAtLeast(agreed.revision, "2025-11-25")) {
        // Servers before 2025-11-25 know no modes: they would ask this client for forms.
        capabilities = withoutElicitation(capabilities);
        await conversation.link.close();
        continue;
      }
      conversation.notify("notifications/initialized", undefined);
      await conversation.link.established(agreed.revision);
      return { conversation, ...agreed };
    } catch (error) {
      await conversation.link.close();
      throw error;
    } finally {
      options.signal.removeEventListener("abort", giveUp);
    }
  }
}
