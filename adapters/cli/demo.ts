import { runDemo } from "../demo/demo.js";
import type { Command } from "./command.js";
import { EXIT } from "./exit-codes.js";

const WIDTH_OF_A_PIPE = 120;

/** The demonstration, as wide as the terminal; colours only where there is one. */
export const demo: Command = async (_options, terminal) => {
  const told = Number(terminal.env["COLUMNS"]);
  const width = terminal.columns ?? (told >= 40 ? told : WIDTH_OF_A_PIPE);
  const colour = terminal.columns !== undefined && !terminal.env["NO_COLOR"];
  await runDemo({ terminal: { width, colour }, write: terminal.out });
  return EXIT.ok;
};
