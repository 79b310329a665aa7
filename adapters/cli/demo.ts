import type { Command } from "./command.js";

export const demo: Command = async () => {
  throw new Error("demo: not yet");
};
