import type { Command } from "./command.js";

export const explain: Command = async () => {
  throw new Error("explain: not yet");
};
