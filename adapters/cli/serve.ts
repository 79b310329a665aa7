import type { Command } from "./program.js";

export const serve: Command = async () => {
  throw new Error("serve: not yet");
};
