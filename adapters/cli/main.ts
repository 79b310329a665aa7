#!/usr/bin/env node
import { runProgram } from "./program.js";

/** Command line in, exit code out. A reader of the output that has gone is no fault of ours. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

let waitsForReader = true;

const code = await runProgram(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  interactive: process.stderr.isTTY === true,
  leaveUnread() {
    waitsForReader = false;
  },
});

// Output may still be on its way through a pipe; a command that is done has left nothing else.
if (waitsForReader) process.stdout.write("", () => process.exit(code));
else process.exit(code);
