/** Starts a server that ignores every polite request, says its pid, and ends as told. */
import { createChildTarget } from "../../../adapters/stdio/child.js";

const STUBBORN = `
  process.on("SIGTERM", () => {});
  const { spawn } = require("node:child_process");
  const source = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log(process.pid)';
  spawn(process.execPath, ["-e", source], { stdio: ["ignore", "inherit", "ignore"] });
  console.log(process.pid);
  setInterval(() => {}, 1000);
`;

const pids: string[] = [];
const channel = await createChildTarget({
  command: process.execPath,
  args: ["-e", STUBBORN],
}).open();
channel.start({
  message(pid) {
    pids.push(pid);
    if (pids.length < 2) return;
    process.stdout.write(`${pids.join(" ")}\n`);
    setImmediate(end);
  },
  dropped: () => undefined,
  closed: () => undefined,
});

function end(): void {
  if (process.argv[2] === "exit") process.exit(0);
  if (process.argv[2] === "crash") throw new Error("crash");
  process.on("SIGTERM", () => process.exit(143));
  process.kill(process.pid, "SIGTERM");
}
