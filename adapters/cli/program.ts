import { BridgeError } from "../../src/index.js";
import { BindRefused, UsageError } from "../sidecar/usage-error.js";
import { IDENTITY } from "../system/identity.js";
import { type Invocation, readArguments } from "./arguments.js";
import type { Command, Terminal } from "./command.js";
import { EXIT } from "./exit-codes.js";
import type { CommandName } from "./options.js";

/** A command's code is loaded when it is asked for: `wrap` must be quick to start. */
const COMMANDS: Readonly<Record<CommandName, () => Promise<Command>>> = {
  wrap: async () => (await import("./wrap.js")).wrap,
  serve: async () => (await import("./serve.js")).serve,
  check: async () => (await import("./check.js")).check,
  explain: async () => (await import("./explain.js")).explain,
  demo: async () => (await import("./demo.js")).demo,
};

async function perform(invocation: Invocation, terminal: Terminal): Promise<number> {
  switch (invocation.type) {
    case "version":
      terminal.out(`${IDENTITY.version}\n`);
      return EXIT.ok;
    case "help": {
      const { commandHelp, overviewHelp } = await import("./help.js");
      const { command } = invocation;
      terminal.out(command === undefined ? overviewHelp(IDENTITY.version) : commandHelp(command));
      return EXIT.ok;
    }
    case "run": {
      const command = await COMMANDS[invocation.command]();
      return command(invocation.options, terminal);
    }
  }
}

function exitCodeFor(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof BindRefused) return EXIT.bind;
  if (error instanceof BridgeError) {
    return error.code === "not-bridgeable" ? EXIT.notBridgeable : EXIT.upstream;
  }
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "EADDRINUSE" || code === "EACCES" || code === "EADDRNOTAVAIL"
    ? EXIT.bind
    : EXIT.internal;
}

/** Runs one command line and says on `err` what went wrong, in one line or two. */
export async function runProgram(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await perform(readArguments(argv, terminal.env), terminal);
  } catch (error) {
    const code = exitCodeFor(error);
    const message = error instanceof Error ? error.message : String(error);
    const detail = code === EXIT.internal && error instanceof Error ? error.stack : message;
    terminal.err(`erabridge: ${detail ?? message}\n`);
    if ((error instanceof UsageError || error instanceof BindRefused) && error.hint) {
      terminal.err(`  ${error.hint}\n`);
    }
    return code;
  }
}
