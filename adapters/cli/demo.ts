import type { Command } from "./program.js";

export const demo: Command = async () => {
  throw new Error("demo: not yet");
};
