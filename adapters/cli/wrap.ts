import type { Command } from "./command.js";

export const wrap: Command = async () => {
  throw new Error("wrap: not yet");
};
