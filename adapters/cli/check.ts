import { BridgeError, DEFAULT_LIMITS, RULES } from "../../src/index.js";
import { nameOf, openBridge } from "../sidecar/open-bridge.js";
import type { Command } from "./command.js";
import { EXIT, exitCodeOf } from "./exit-codes.js";
import { openPorts } from "./ports.js";
import { awaitStop } from "./signals.js";
import { type Survey, survey } from "./survey.js";
import { createWitness } from "./witness.js";

interface Loss {
  readonly row: string;
  readonly feature: string;
  readonly fate: string;
  readonly loss: string;
}

/** What cannot be kept between a server of this era and a client of the other. */
function lossesOf(era: string): readonly Loss[] {
  const side = era === "modern" ? "legacyClient" : "modernClient";
  return RULES.filter((rule) => rule.loss !== "none" && rule[side].fate !== "same").map((rule) => ({
    row: rule.id,
    feature: rule.feature,
    fate: rule[side].fate,
    loss: rule.loss,
  }));
}

const MOST_NAMES = 12;

function offerLine([kind, names]: readonly [string, readonly string[]]): string {
  const shown = names.slice(0, MOST_NAMES).join(", ");
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  return `  ${names.length} ${kind}${names.length === 0 ? "" : `: ${shown}${more}`}`;
}

function format(found: Survey, losses: readonly Loss[]): string {
  const other = found.era === "modern" ? "legacy" : "modern";
  const width = Math.max(...losses.map(({ row }) => row.length));
  return [
    `${found.name} ${found.version}: ${found.era}, revision ${found.revision}`,
    `  found out by: ${found.reason}`,
    "",
    "Through the bridge it offers:",
    ...Object.entries(found.offers).map(offerLine),
    `  capabilities: ${Object.keys(found.capabilities).join(", ") || "none"}`,
    ...found.faults.map((fault) => `  broken: ${fault}`),
    "",
    `What a bridge to ${other} clients cannot keep (erabridge explain <row>):`,
    ...losses.map(({ row, loss }) => `  ${row.padEnd(width)}  ${loss}`),
  ].join("\n");
}

/** Says which era a server speaks and how that was found out, what it offers, and what is lost. */
export const check: Command = async (options, terminal) => {
  const { connection, bridging } = options;
  if (connection === undefined) return EXIT.usage;
  const logLevel = options.logLevel === "info" ? "warn" : options.logLevel;
  const ports = openPorts({ ...options, logLevel }, terminal);
  const witness = createWitness(ports.journal);
  // What was started to be looked at must not outlive the look.
  const stop = awaitStop(["SIGINT", "SIGTERM", "SIGHUP"]);
  const bridge = openBridge(
    { name: nameOf(connection), connection, ...bridging },
    { ...ports, journal: witness },
  );
  let signal: NodeJS.Signals | undefined;
  void stop.stopped.then((name) => {
    signal = name;
    return bridge.close();
  });
  try {
    await bridge.warm();
    const { maxPages } = { ...DEFAULT_LIMITS, ...bridging.limits };
    const found = await survey(bridge, witness, maxPages).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      throw new BridgeError("upstream-unavailable", message, { cause: error });
    });
    const losses = lossesOf(found.era);
    const text = options.json
      ? JSON.stringify({ ...found, losses }, null, 2)
      : format(found, losses);
    terminal.out(`${text}\n`);
    return EXIT.ok;
  } catch (error) {
    if (signal === undefined) throw error;
    return exitCodeOf(signal);
  } finally {
    await bridge.close();
    stop.release();
  }
};
