import type { Command } from "./command.js";

export const serve: Command = async () => {
  throw new Error("serve: not yet");
};
