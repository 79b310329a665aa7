import { BridgeError } from "../errors.js";
import { asString, isArrayText, type JsonText, toJsonText } from "../jsonrpc/json-text.js";
import { callText } from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import type { Advertisement } from "../model/advertisement.js";
import type { Caller } from "../model/caller.js";
import type { Limits } from "../model/limits.js";
import {
  type Interest,
  type Notice,
  PROMPTS_CHANGED,
  RESOURCE_UPDATED,
  RESOURCES_CHANGED,
  TOOLS_CHANGED,
} from "../model/notice.js";
import type { Acknowledgement, Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { LIST_KINDS, type ListKind } from "../translation/lower-advertisement.js";
import { lowerNotice } from "../translation/lower-notice.js";
import { pause, within } from "./pause.js";

/** The changes a session hears of: lists by themselves, resources because it subscribed. */
export interface LegacyWatches {
  /** Watches the lists the server advertises changes of; resolves with those it will not tell. */
  watchLists(advertisement: Advertisement): Promise<readonly ListKind[]>;
  /** True when the server honours it. Rejects with BridgeError or PeerError. */
  subscribe(uri: string): Promise<boolean>;
  unsubscribe(uri: string): void;
  close(): void;
}

export interface LegacyWatchesDeps {
  readonly service: Service;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly caller: () => Caller;
  /** Takes whole notifications that belong to no call. */
  readonly aside: (text: JsonText) => void;
}

const CHANGED: Readonly<Record<ListKind, string>> = {
  tools: TOOLS_CHANGED,
  prompts: PROMPTS_CHANGED,
  resources: RESOURCES_CHANGED,
};

const FILTER: Readonly<
  Record<ListKind, "toolsListChanged" | "promptsListChanged" | "resourcesListChanged">
> = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
};

interface Subscription {
  readonly controller: AbortController;
  readonly honoured: Promise<boolean>;
}

export function createLegacyWatches(deps: LegacyWatchesDeps): LegacyWatches {
  const { service, clock, journal, limits } = deps;
  const subscriptions = new Map<string, Subscription>();
  const closing = new AbortController();
  /** What was told in this very moment, and by which watch. */
  const told = new Map<JsonText, AbortSignal>();

  /** A part of several subscribed resources is told to each of their watches: the client hears once. */
  const isFirst = (text: JsonText, by: AbortSignal): boolean => {
    if (told.size === 0) queueMicrotask(() => told.clear());
    const before = told.get(text);
    told.set(text, by);
    return before === undefined || before === by;
  };

  const open = async (interest: Interest, signal: AbortSignal): Promise<Acknowledgement> => {
    const tell = ({ method, params }: Notice): void => {
      if (signal.aborted) return;
      const text = callText(undefined, method, lowerNotice(params));
      if (isFirst(text, signal)) deps.aside(text);
    };
    const watch = () => service.watch(interest, deps.caller(), tell, signal);
    const acknowledged = await watch();
    void keep(acknowledged, watch, () => tellAll(interest, tell), signal);
    return acknowledged;
  };

  /** Opens an ended watch once more, at a slow pace, for as long as the session wants it. */
  const keep = async (
    first: Acknowledgement,
    watch: () => Promise<Acknowledgement>,
    onRenewed: () => void,
    signal: AbortSignal,
  ): Promise<void> => {
    let current: Acknowledgement | undefined = first;
    for (;;) {
      await current?.ended;
      await pause(clock, limits.resumePauseMaxMs, signal);
      if (signal.aborted) return;
      current = await watch().catch(() => undefined);
      if (current !== undefined) onRenewed();
    }
  };

  const watchKinds = async (kinds: readonly ListKind[]): Promise<readonly ListKind[]> => {
    try {
      const asked = open(listInterest(kinds), closing.signal);
      const acknowledged = await within(clock, limits.listenAckMs, asked);
      if (acknowledged !== undefined) {
        return kinds.filter((kind) => memberAt(acknowledged.honoured, FILTER[kind]) !== "true");
      }
      journal.warn("listen-not-acknowledged");
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown";
      journal.warn("listen-refused", { reason });
    }
    // What cannot be told stays advertised: the list may be watched later.
    return [];
  };

  const subscribe = async (uri: string, controller: AbortController): Promise<boolean> => {
    try {
      const acknowledged = await open(resourceInterest(uri), controller.signal);
      if (honours(acknowledged.honoured, uri)) return true;
    } catch (error) {
      forget(uri, controller);
      throw error;
    }
    forget(uri, controller);
    return false;
  };

  const forget = (uri: string, controller: AbortController | undefined): void => {
    controller?.abort();
    if (subscriptions.get(uri)?.controller === controller) subscriptions.delete(uri);
  };

  return {
    async watchLists({ capabilities }) {
      const kinds = LIST_KINDS.filter(
        (kind) => memberAt(capabilities, kind, "listChanged") === "true",
      );
      return kinds.length === 0 ? [] : watchKinds(kinds);
    },

    subscribe(uri) {
      const known = subscriptions.get(uri);
      if (known !== undefined) return known.honoured;
      if (subscriptions.size >= limits.maxWatchedUris) {
        const message = `more than ${limits.maxWatchedUris} resources are subscribed`;
        return Promise.reject(new BridgeError("overloaded", message));
      }
      const controller = new AbortController();
      // Entered before the first await of `subscribe` can end.
      const honoured = subscribe(uri, controller);
      subscriptions.set(uri, { controller, honoured });
      return honoured;
    },

    unsubscribe: (uri) => forget(uri, subscriptions.get(uri)?.controller),

    close() {
      closing.abort();
      for (const { controller } of subscriptions.values()) controller.abort();
      subscriptions.clear();
    },
  };
}

function listInterest(kinds: readonly ListKind[]): Interest {
  const flags = Object.fromEntries(kinds.map((kind) => [FILTER[kind], true]));
  return {
    toolsListChanged: kinds.includes("tools"),
    promptsListChanged: kinds.includes("prompts"),
    resourcesListChanged: kinds.includes("resources"),
    resourceSubscriptions: [],
    text: toJsonText(flags),
  };
}

function resourceInterest(uri: string): Interest {
  return {
    toolsListChanged: false,
    promptsListChanged: false,
    resourcesListChanged: false,
    resourceSubscriptions: [uri],
    text: toJsonText({ resourceSubscriptions: [uri] }),
  };
}

function honours(honoured: JsonText, uri: string): boolean {
  const uris = memberAt(honoured, "resourceSubscriptions");
  return isArrayText(uris) && elementsOf(uris).some((element) => asString(element) === uri);
}

/** Changes may have been missed while nobody listened: saying that all changed is always true. */
function tellAll(interest: Interest, tell: (notice: Notice) => void): void {
  for (const kind of LIST_KINDS) {
    if (interest[FILTER[kind]]) tell({ method: CHANGED[kind], params: undefined });
  }
  for (const uri of interest.resourceSubscriptions) {
    tell({ method: RESOURCE_UPDATED, params: toJsonText({ uri }) });
  }
}
