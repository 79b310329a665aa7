import type { Command } from "./program.js";

export const explain: Command = async () => {
  throw new Error("explain: not yet");
};
