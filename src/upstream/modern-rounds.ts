import type { ErrorMessage, ResponseMessage } from "../jsonrpc/message.js";
import { type Notices, PROGRESS } from "../model/notice.js";
import type { Operation } from "../model/operation.js";
import type { HttpHeaders } from "../ports/http.js";
import { lowerNotice } from "../translation/lower-notice.js";
import { withoutToken } from "../translation/progress.js";
import type { Exchange, ExchangeLoss } from "./exchange.js";
import type { ModernConversation } from "./modern-conversation.js";
import { operationText } from "./modern-request-text.js";

/** How one request of a round ended. */
export type Ending =
  | { readonly type: "answered"; readonly message: ResponseMessage | ErrorMessage }
  | { readonly type: "lost"; readonly loss: ExchangeLoss }
  | { readonly type: "cancelled" };

/** Sends one request for a round and waits for its end. Rejects when there is no server to send it to. */
export async function sendRound(
  conversation: ModernConversation,
  operation: Operation,
  headers: HttpHeaders | undefined,
  notices: Notices,
  signal: AbortSignal,
): Promise<Ending> {
  await conversation.ready();
  if (signal.aborted) return { type: "cancelled" };
  return new Promise((resolve) => {
    let exchange: Exchange | undefined;
    const settle = (ending: Ending): void => {
      signal.removeEventListener("abort", cancel);
      resolve(ending);
    };
    const cancel = (): void => {
      if (exchange !== undefined) conversation.cancel(exchange, "the client cancelled the request");
      settle({ type: "cancelled" });
    };
    signal.addEventListener("abort", cancel, { once: true });
    exchange = conversation.request(
      {
        method: operation.method,
        text: (id) => operationText(operation, id),
        headers,
        logsFor: operation.logLevel === undefined ? undefined : operation.caller.principal,
        standing: false,
      },
      {
        told({ method, params }) {
          if (signal.aborted) return;
          if (method !== PROGRESS) notices({ method, params: lowerNotice(params) });
          else if (operation.wantsProgress) notices({ method, params: withoutToken(params) });
        },
        answered: (message) => settle({ type: "answered", message }),
        lost: (loss) => settle({ type: "lost", loss }),
      },
    );
  });
}
