import { callText } from "../jsonrpc/message.js";
import { NEWEST_LEGACY } from "../model/era.js";
import type { Limits } from "../model/limits.js";
import type { Clock, Stop } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { createChannelLink } from "./channel-link.js";
import type { LinkRequest } from "./link.js";
import { judgeAnswer, type Look, PROBE_ID, type ProbeFinding } from "./probe.js";
import type { ReopeningTarget } from "./reopening.js";

export interface SiblingProbeOptions {
  readonly target: ReopeningTarget;
  readonly request: LinkRequest;
  readonly name: string;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly journal: Journal;
}

const INITIALIZE: LinkRequest = {
  id: 1,
  method: "initialize",
  text: callText(
    "1",
    "initialize",
    `{"protocolVersion":"${NEWEST_LEGACY}","capabilities":{},"clientInfo":{"name":"probe","version":"1"}}`,
  ),
};

/**
 * Looks at a server on a conversation of its own, which is over when this resolves. After some silence
 * `initialize` goes out behind the probe; whichever is answered first proves the era. An end, and
 * silence for as long as a start may take, count as legacy. Rejects with BridgeError.
 */
export async function probeSibling(options: SiblingProbeOptions): Promise<Look> {
  const { target, request, clock, limits } = options;
  const link = createChannelLink({ ...options, channel: await target.open() });
  const timers: Stop[] = [];
  const look = await new Promise<Look>((resolve) => {
    const says = (finding: ProbeFinding): void => resolve({ finding, proven: true, silent: false });
    const guess = (reason: string): void =>
      resolve({ finding: { type: "legacy", reason }, proven: false, silent: false });
    link.start({
      message(message) {
        if (message.type === "request" || message.type === "notification") return;
        const isHandshake = message.type === "response" && Number(message.id) !== PROBE_ID;
        says(
          isHandshake ? { type: "legacy", reason: "answered initialize" } : judgeAnswer(message),
        );
      },
      lost(_, { kind, detail }) {
        if (kind === "invalid") says({ type: "legacy", reason: `answered no message (${detail})` });
      },
      closed: (detail) => guess(`ends on the probe (${detail})`),
    });
    link.request(request);
    timers.push(
      clock.after(limits.probeSilenceMs, () => link.request(INITIALIZE)),
      clock.after(limits.startTimeoutMs, () => guess("is silent on the probe")),
    );
  });
  for (const stop of timers) stop();
  await link.close();
  return look;
}
