import { COMMANDS, type CommandName, OPTIONS, type OptionSpec } from "./options.js";

interface CommandHelp {
  readonly usage: readonly string[];
  readonly about: string;
  readonly text: string;
}

const HELP: Readonly<Record<CommandName, CommandHelp>> = {
  wrap: {
    usage: ["wrap [options] -- <command> [args…]", "wrap [options] <url>"],
    about: "speak to one client over stdin and stdout: what an mcpServers entry starts",
    text: `Starts or reaches one server and serves it on standard input and output to whoever started this
process. A client of either era may be there; the server may be of either era. Standard output has
protocol messages only, the log goes to standard error. The end of input ends everything.

  erabridge wrap -- npx -y @modelcontextprotocol/server-everything
  erabridge wrap --header 'Authorization: Bearer \${TOKEN}' https://example.com/mcp`,
  },
  serve: {
    usage: [
      "serve [options] -- <command> [args…]",
      "serve [options] <url>",
      "serve [options] --config <file>",
    ],
    about: "serve clients over HTTP: the sidecar, at http://127.0.0.1:8080/mcp",
    text: `Serves one server, or several from a file, over Streamable HTTP to clients of either era. The first
line of standard output has the URL to use. /healthz says that the process lives, /readyz that its
servers can be reached, /metrics what it did. SIGTERM and SIGINT let calls in flight finish, then
exit 0; a second signal ends at once. Without --token only this machine can connect.

  erabridge serve -- npx -y @modelcontextprotocol/server-everything
  erabridge serve --port 9000 http://127.0.0.1:3001/mcp
  erabridge serve --host 0.0.0.0 --token 'ci:\${CI_TOKEN}' --config erabridge.json`,
  },
  check: {
    usage: ["check [options] -- <command> [args…]", "check [options] <url>"],
    about: "which era and revision a server speaks, what crosses the bridge, what is lost",
    text: `Connects as the bridge would, lists what the server offers, calls nothing, and says what a client of
the other era will see of it.

  erabridge check -- npx -y @modelcontextprotocol/server-filesystem /tmp
  erabridge check --json https://example.com/mcp`,
  },
  explain: {
    usage: ["explain [method or feature]"],
    about: "the rows of the compatibility matrix about a method or a feature",
    text: `Without a word it lists all rows.

  erabridge explain elicitation/create`,
  },
  demo: {
    usage: ["demo"],
    about: "watch a modern client and a legacy server talk through the bridge",
    text: "Everything runs inside this process; nothing else is needed, nothing is left behind.",
  },
};

const VALUES = `TIME is 500ms, 30s, 10m, 1h or plain milliseconds; SIZE is 64mb, 512kb or plain bytes.
Each option has a variable, ERABRIDGE_PORT for --port; of a repeatable one it holds one value a line.
The command line wins. In --header and --token, \${NAME} stands for a variable of the environment.`;

const EXIT_CODES = `Exit codes: 0 stopped in good order, 1 fault of the bridge, 2 wrong usage, 3 the server cannot be
started or reached, 4 not bridgeable, 5 the port is taken or refused, 130 and 143 ended by a signal.`;

function optionLine(option: OptionSpec): string {
  const name = `--${option.name}${option.value === undefined ? "" : ` ${option.value}`}`;
  const about = option.many ? `${option.about}; repeatable` : option.about;
  return `  ${name.padEnd(27)} ${about}`;
}

function usageLines(command: CommandName): readonly string[] {
  return HELP[command].usage.map((usage) => `  erabridge ${usage}`);
}

/** The page of one command. */
export function commandHelp(command: CommandName): string {
  const options = OPTIONS.filter((option) => option.commands.includes(command)).map(optionLine);
  const sections = [
    `erabridge ${command}: ${HELP[command].about}`,
    usageLines(command).join("\n"),
    HELP[command].text,
  ];
  if (options.length > 0) sections.push(["Options:", ...options].join("\n"));
  if (options.length > 1) sections.push(VALUES, EXIT_CODES);
  return `${sections.join("\n\n")}\n`;
}

/** The page for `erabridge --help`. */
export function overviewHelp(version: string): string {
  const width = Math.max(...COMMANDS.map((command) => command.length));
  const commands = COMMANDS.map((command) => `  ${command.padEnd(width)}  ${HELP[command].about}`);
  return `erabridge ${version}: a transparent bridge between the two eras of the Model Context Protocol.
Clients of revision 2026-07-28 use servers that speak initialize and sessions, and the other way round.

Usage:
${COMMANDS.flatMap(usageLines).join("\n")}

Commands:
${commands.join("\n")}

erabridge <command> --help has the options of a command. Try first: erabridge demo

${EXIT_CODES}
`;
}
