import { readFileSync } from "node:fs";
import { readConfig } from "../sidecar/config.js";
import type { Variables } from "../sidecar/expand.js";
import { nameOf } from "../sidecar/open-bridge.js";
import { checkSameResource } from "../sidecar/same-resource.js";
import { DEFAULT_LISTEN, type SidecarSettings } from "../sidecar/settings.js";
import { createSidecar } from "../sidecar/sidecar.js";
import { UsageError } from "../sidecar/usage-error.js";
import type { Options } from "./arguments.js";
import type { Command } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { findCommand } from "./find-command.js";
import { openPorts } from "./ports.js";
import { awaitStop } from "./signals.js";

interface Read extends SidecarSettings {
  readonly warnings: readonly string[];
}

function readFile(name: string): string {
  try {
    return readFileSync(name, "utf8");
  } catch (error) {
    throw new UsageError(`--config: ${error instanceof Error ? error.message : error}`);
  }
}

function readSettings(options: Options, variables: Variables): Read {
  const { configFile, connection, bridging, path } = options;
  if (configFile !== undefined) {
    const text = readFile(configFile);
    const config = readConfig({ text, name: configFile, variables, bridging });
    return {
      listen: { ...DEFAULT_LISTEN, ...config.listen, ...options.listen },
      mounts: config.upstreams.map((upstream) => ({ path: `${path}/${upstream.name}`, upstream })),
      warnings: config.warnings,
    };
  }
  const upstreams =
    connection === undefined ? [] : [{ name: nameOf(connection), connection, ...bridging }];
  upstreams.forEach(checkSameResource);
  const mounts = upstreams.map((upstream) => ({ path, upstream }));
  return { listen: { ...DEFAULT_LISTEN, ...options.listen }, mounts, warnings: [] };
}

/** What to put into a client's configuration. */
function snippet(urls: readonly (readonly [string, string])[]): string {
  const mcpServers = Object.fromEntries(urls.map(([name, url]) => [name, { type: "http", url }]));
  return `A client's configuration:\n${JSON.stringify({ mcpServers }, null, 2)}\n`;
}

/** The sidecar: clients over HTTP, until a signal. */
export const serve: Command = async (options, terminal) => {
  const ports = openPorts(options, terminal);
  const { journal } = ports;
  const read = () => {
    const settings = readSettings(options, terminal.env);
    for (const warning of settings.warnings) journal.warn("setting-ignored", { warning });
    return settings;
  };
  const settings = read();
  const { connection } = options;
  if (connection?.type === "command" && !findCommand(connection, terminal.env)) {
    terminal.err(`erabridge: cannot start ${connection.command}: command not found\n`);
    return EXIT.upstream;
  }
  const reloads = options.configFile !== undefined;
  // Before anything is started: whoever stops this in its first moment must not leave that behind.
  const stop = awaitStop(reloads ? ["SIGINT", "SIGTERM"] : ["SIGINT", "SIGTERM", "SIGHUP"]);
  let reload = (): void => undefined;
  const onHangup = (): void => reload();
  if (reloads) process.on("SIGHUP", onHangup);
  try {
    const sidecar = createSidecar(settings, ports);
    reload = () => {
      try {
        const fresh = read();
        sidecar.update(fresh.mounts);
        if (JSON.stringify(fresh.listen) !== JSON.stringify(settings.listen)) {
          journal.warn("setting-ignored", { warning: "a changed listener needs a restart" });
        }
      } catch (error) {
        journal.error("reload-refused", { error });
      }
    };
    try {
      const origin = await sidecar.listen();
      const urls = settings.mounts.map(
        ({ path, upstream }) => [upstream.name, origin + encodeURI(path)] as const,
      );
      terminal.out(`erabridge serving ${urls.map(([, url]) => url).join(" ")}\n`);
      if (terminal.interactive) terminal.err(snippet(urls));
      const signal = await stop.stopped;
      journal.info("stopping", { signal });
      return EXIT.ok;
    } finally {
      reload = () => undefined;
      await sidecar.stop();
    }
  } finally {
    process.off("SIGHUP", onHangup);
    stop.release();
  }
};
