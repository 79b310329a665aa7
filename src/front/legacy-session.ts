import type {
  ErrorMessage,
  NotificationMessage,
  RequestMessage,
  ResponseMessage,
} from "../jsonrpc/message.js";
import type { CallOutlet } from "./call-outlet.js";
import type { LegacyFrontDeps } from "./legacy-deps.js";
import type { Handshake } from "./legacy-handshake.js";
import type { Sender } from "./modern-request.js";

export interface LegacyFrontOptions {
  readonly sender: Sender;
  /** Takes whole notifications that belong to no call. */
  readonly aside: (text: string) => void;
  /** The session was opened elsewhere, with this handshake. */
  readonly opened?: Handshake | undefined;
}

/** Our face as a legacy server to one client: a session, whatever carries its messages. */
export interface LegacyFront {
  /** `sender` is who sent this request; it never changes principal within a session. */
  request(message: RequestMessage, outlet: CallOutlet, sender: Sender): void;
  notification(message: NotificationMessage): void;
  response(message: ResponseMessage | ErrorMessage): void;
  /** Undefined until a handshake has been accepted. */
  readonly handshake: Handshake | undefined;
  /** Requests without an answer yet. */
  readonly openCalls: number;
  /** The client answers nothing more: calls that wait for it end. Resolves when no call is open. */
  drain(): Promise<void>;
  /** Cancels every call and ends every watch. */
  close(): void;
}

/** Opens the session of a client that is about to shake hands, or did so elsewhere. */
export type OpenLegacyFront = (options: LegacyFrontOptions) => LegacyFront;

/** What an endpoint needs to have legacy sessions. */
export interface LegacySessionDeps extends LegacyFrontDeps {
  readonly openFront: OpenLegacyFront;
}
