import type { Command } from "./command.js";

export const check: Command = async () => {
  throw new Error("check: not yet");
};
