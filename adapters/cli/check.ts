import type { Command } from "./program.js";

export const check: Command = async () => {
  throw new Error("check: not yet");
};
