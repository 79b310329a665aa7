import {
  type Advertisement,
  BridgeError,
  type Caller,
  LOCAL_PRINCIPAL,
  type Operation,
  type Outcome,
  type Service,
} from "../../src/index.js";
import type { Message } from "../../src/jsonrpc/message.js";
import { toFailed } from "../../src/model/failure.js";
import type { OpenLink } from "../../src/upstream/era-source.js";
import type { Link, LinkLoss } from "../../src/upstream/link.js";
import { requestText } from "./fakes.js";

export const CALLER: Caller = {
  principal: LOCAL_PRINCIPAL,
  anonymous: false,
  identity: undefined,
  capabilities: "{}",
  affinity: undefined,
  authorization: undefined,
};

export function callOf(method: string, caller: Caller = CALLER): Operation {
  return {
    method,
    params: "{}",
    caller,
    logLevel: undefined,
    wantsProgress: false,
    answers: undefined,
  };
}

/** A service of one era, as simple as can be: one conversation, one request after the other. */
export interface EraService extends Service {
  readonly closes: number;
}

interface Conversation {
  ask(method: string): Promise<Message>;
  readonly ended: boolean;
  close(): Promise<void>;
}

function toError(loss: LinkLoss): BridgeError {
  const code = loss.kind === "not-sent" ? "upstream-unavailable" : "upstream-lost";
  return new BridgeError(code, loss.detail);
}

function converse(link: Link): Conversation {
  const waiting = new Map<number, [(message: Message) => void, (error: unknown) => void]>();
  let id = 0;
  let ended = false;
  link.start({
    message(message) {
      if (message.type === "response" || message.type === "error") {
        waiting.get(Number(message.id))?.[0](message);
      }
    },
    lost: (lost, loss) => waiting.get(lost)?.[1](toError(loss)),
    closed() {
      ended = true;
    },
  });
  return {
    ask: (method) =>
      new Promise((resolve, reject) => {
        id += 1;
        waiting.set(id, [resolve, reject]);
        const text = method === "initialize" ? initializeText(id) : requestText(id, method);
        link.request({ id, method, text });
      }),
    get ended() {
      return ended;
    },
    close: () => link.close(),
  };
}

function initializeText(id: number): string {
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params });
}

function toOutcome(message: Message): Outcome {
  if (message.type === "response") return { type: "complete", result: message.result };
  if (message.type !== "error") throw new Error(message.type);
  const { code } = JSON.parse(message.error) as { code: number };
  return { type: "failed", cause: "peer", error: { code, text: message.error } };
}

function createEraService(
  openLink: OpenLink,
  handshake: (ask: Conversation["ask"]) => Promise<void>,
): EraService {
  let conversation: Promise<Conversation> | undefined;
  let closes = 0;

  const open = async (caller: Caller, signal: AbortSignal): Promise<Conversation> => {
    const opened = converse(await openLink(caller, signal));
    try {
      await handshake(opened.ask);
    } catch (error) {
      await opened.close();
      throw error;
    }
    return opened;
  };

  const present = async (caller: Caller, signal: AbortSignal): Promise<Conversation> => {
    const before = await conversation?.catch(() => undefined);
    if (before === undefined || before.ended) conversation = open(caller, signal);
    return conversation ?? open(caller, signal);
  };

  return {
    async describe(caller, signal): Promise<Advertisement> {
      await present(caller, signal);
      return {
        era: "legacy",
        revision: "x",
        result: "{}",
        capabilities: "{}",
        serverInfo: undefined,
        instructions: undefined,
      };
    },
    async relay({ method, caller }, _, signal) {
      try {
        return toOutcome(await (await present(caller, signal)).ask(method));
      } catch (error) {
        return toFailed(error);
      }
    },
    watch: () => Promise.reject(new BridgeError("closed", "no watches here")),
    notify: () => undefined,
    async close() {
      closes += 1;
      await (await conversation?.catch(() => undefined))?.close();
    },
    get closes() {
      return closes;
    },
  };
}

export function createLegacyService(openLink: OpenLink): EraService {
  return createEraService(openLink, async (ask) => {
    const answer = await ask("initialize");
    if (answer.type !== "error") return;
    const { code } = JSON.parse(answer.error) as { code: number };
    throw new BridgeError("upstream-unavailable", "initialize was refused", { data: { code } });
  });
}

export function createModernService(openLink: () => Promise<Link>): EraService {
  return createEraService(openLink, () => Promise.resolve());
}
