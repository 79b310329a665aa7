import type { JsonText } from "../../jsonrpc/json-text.js";
import type { Limits } from "../../model/limits.js";
import type { Clock } from "../../ports/clock.js";
import type { Entropy } from "../../ports/entropy.js";
import type { ReplayBudget } from "./replay-budget.js";

/** A connection that shows a stream to the client. */
export interface EventSink {
  event(id: string, text: JsonText): void;
  /** Nothing follows on this connection. */
  end(): void;
}

/** `call`: the answer to one POST. `aside`: what belongs to no call, one for each session. */
export type StreamKind = "call" | "aside";

/** The messages of one stream in order, kept so that a client that was cut off can read on. */
export interface LoggedStream {
  /** The id of the place behind what a connection has shown. */
  readonly placeId: string;
  write(text: JsonText): void;
  /** The stream is complete. */
  finish(): void;
  /** Makes this the connection of the stream, in the place of any other, and shows what came since. */
  attach(sink: EventSink, since: Since): void;
  /** The connection is gone; what follows waits. */
  detach(sink: EventSink): void;
  readonly attached: boolean;
}

/** After the event of that number, or whatever no connection has shown yet. */
export type Since = number | "unseen";

/** Where a client stopped reading. */
export interface Place {
  readonly stream: LoggedStream;
  readonly since: number;
  /** Nothing more will come than what has been read. */
  readonly exhausted: boolean;
}

/** The streams of one session (2025-11-25/basic/transports, "Resumability and Redelivery"). */
export interface EventLog {
  open(kind: StreamKind): LoggedStream;
  /** The place an event id of this session names; undefined when it names none that is kept. */
  find(eventId: string): Place | undefined;
  /** Was the id, known or not, one of a stream for what belongs to no call? */
  isAside(eventId: string): boolean;
  /** Streams with a connection. */
  readonly attached: number;
  close(): void;
}

export interface EventLogDeps {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly limits: Pick<Limits, "maxReplayEvents" | "maxReplayBytes" | "replayMs">;
  readonly budget: ReplayBudget;
}

interface Entry {
  readonly serial: number;
  readonly text: JsonText;
  readonly at: number;
}

interface Logged extends LoggedStream {
  readonly finished: boolean;
  readonly lastSerial: number;
  end(): void;
}

/** Event ids read `<c or a>_<stream>_<serial>`; the stream's part cannot be guessed. */
const EVENT_ID = /^([ca]_.+)_(\d{1,15})$/;

export function createEventLog(deps: EventLogDeps): EventLog {
  const { entropy } = deps;
  const streams = new Map<string, Logged>();

  return {
    open(kind) {
      const name = `${kind === "call" ? "c" : "a"}_${entropy.token()}`;
      const stream = createLoggedStream(name, deps, () => streams.delete(name));
      streams.set(name, stream);
      return stream;
    },
    find(eventId) {
      const [, name = "", serial = ""] = EVENT_ID.exec(eventId) ?? [];
      const stream = streams.get(name);
      if (stream === undefined) return undefined;
      const since = Number(serial);
      return { stream, since, exhausted: stream.finished && since >= stream.lastSerial };
    },
    isAside: (eventId) => eventId.startsWith("a_"),
    get attached() {
      let count = 0;
      for (const { attached } of streams.values()) if (attached) count += 1;
      return count;
    },
    close() {
      for (const stream of [...streams.values()]) stream.end();
      streams.clear();
    },
  };
}

function createLoggedStream(name: string, deps: EventLogDeps, onDropped: () => void): Logged {
  const { clock, limits, budget } = deps;
  const entries: Entry[] = [];
  let size = 0;
  let lastSerial = 0;
  let seen = 0;
  let finished = false;
  let sink: EventSink | undefined;
  let release: (() => void) | undefined;

  /** The newest event is always kept, for it may be the answer, however large. */
  const trim = (): void => {
    const oldest = clock.now() - limits.replayMs;
    for (;;) {
      const first = entries[0];
      if (first === undefined || entries.length === 1) return;
      const over = entries.length > limits.maxReplayEvents || size > limits.maxReplayBytes;
      if (!over && first.at >= oldest) return;
      entries.shift();
      size -= first.text.length;
    }
  };

  const show = (to: EventSink, { serial, text }: Entry): void => {
    seen = Math.max(seen, serial);
    to.event(`${name}_${serial}`, text);
  };

  const drop = (): void => {
    entries.length = 0;
    size = 0;
    onDropped();
  };

  return {
    get placeId() {
      return `${name}_${seen}`;
    },
    write(text) {
      if (finished) return;
      lastSerial += 1;
      const entry = { serial: lastSerial, text, at: clock.now() };
      entries.push(entry);
      size += text.length;
      trim();
      if (sink !== undefined) show(sink, entry);
    },
    finish() {
      if (finished) return;
      finished = true;
      sink?.end();
      sink = undefined;
      release = budget.keep(size, drop);
    },
    attach(to, since) {
      sink?.end();
      trim();
      const after = since === "unseen" ? seen : since;
      for (const entry of entries) if (entry.serial > after) show(to, entry);
      sink = finished ? undefined : to;
      if (finished) to.end();
    },
    detach(from) {
      if (sink === from) sink = undefined;
    },
    get attached() {
      return sink !== undefined;
    },
    get finished() {
      return finished;
    },
    get lastSerial() {
      return lastSerial;
    },
    end() {
      finished = true;
      sink?.end();
      sink = undefined;
      release?.();
      drop();
    },
  };
}
