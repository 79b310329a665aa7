import type { Command } from "./program.js";

export const wrap: Command = async () => {
  throw new Error("wrap: not yet");
};
