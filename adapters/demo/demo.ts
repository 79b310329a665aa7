import { type Bridge, type ChannelTarget, createBridge, type Journal } from "../../src/index.js";
import { createChannelPair } from "../memory/channel-pair.js";
import { IDENTITY } from "../system/identity.js";
import { createSystemPorts } from "../system/ports.js";
import { formatCrossings, formatHead, formatText, type Terminal } from "./columns.js";
import { createLegacyServer } from "./legacy-server.js";
import { createModernClient, type ModernClient } from "./modern-client.js";
import type { Json } from "./peer.js";
import { summarize } from "./summary.js";
import { createTranscript, type Transcript } from "./transcript.js";

export interface DemoOptions {
  readonly terminal: Terminal;
  readonly write: (text: string) => void;
}

interface Scene {
  readonly title: string;
  readonly play: (client: ModernClient) => Promise<Json>;
}

const SCENES: readonly Scene[] = [
  {
    title: "The client asks what the server is. The bridge finds out its era and opens a session.",
    play: (client) => client.call("server/discover"),
  },
  {
    title: "A list: the envelope goes, resultType and cache hints come.",
    play: (client) => client.call("tools/list"),
  },
  {
    title: "A tool reports progress, under a token of the bridge's own.",
    play: (client) => client.call("tools/call", { name: "brew_tea" }, { progressToken: "tea" }),
  },
  {
    title: "A tool asks the user in the middle of its call. The call waits in the bridge.",
    play: (client) =>
      client.call("tools/call", { name: "book_table", arguments: { place: "Café Luso" } }),
  },
  {
    title: "A tool asks for two things at once, then for a third: one round, then another.",
    play: (client) => client.call("tools/call", { name: "plan_trip" }),
  },
];

const QUIET: Journal = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A fresh server for each conversation, every message written down. */
function targetOf(transcript: Transcript): ChannelTarget {
  return {
    type: "channel",
    name: "demo-server",
    spawns: false,
    async open() {
      const pair = createChannelPair({
        tap: (from, text) => transcript.record("server", from === "left" ? "up" : "down", text),
      });
      createLegacyServer(pair.right);
      return pair.left;
    },
  };
}

function connect(bridge: Bridge, transcript: Transcript) {
  const pair = createChannelPair({
    tap: (from, text) => transcript.record("client", from === "left" ? "up" : "down", text),
  });
  const ended = bridge.accept(pair.right);
  return { client: createModernClient(pair.left), ended };
}

/** What a tool said, where it said something. */
function textOf({ content }: Json): string | undefined {
  return Array.isArray(content) ? (content[0] as { text?: string } | undefined)?.text : undefined;
}

/** Plays the scenes and prints what crossed on either side of the bridge. Resolves when all is gone. */
export async function runDemo({ terminal, write }: DemoOptions): Promise<void> {
  const transcript = createTranscript();
  const bridge = createBridge({
    ...createSystemPorts(),
    identity: IDENTITY,
    journal: QUIET,
    target: targetOf(transcript),
  });
  const { client, ended } = connect(bridge, transcript);
  // There is no pipe and no socket here, and a bridge's timers keep no process alive.
  const alive = setInterval(() => undefined, 1_000);
  write(`${formatHead(terminal)}\n`);
  for (const [index, scene] of SCENES.entries()) {
    const result = await scene.play(client);
    const title = formatText(`${index + 1}. ${scene.title}`, terminal, "bold");
    write(`\n${title}\n\n${formatCrossings(transcript.take(), terminal)}\n`);
    const said = textOf(result);
    if (said !== undefined)
      write(`\n${formatText(`The client got: ${said}`, terminal, "answer")}\n`);
  }
  for (const line of summarize(transcript.all)) write(`\n${formatText(line, terminal, "bold")}`);
  write("\n");
  await client.close();
  await ended;
  await bridge.close();
  clearInterval(alive);
}
