import { nameOf, openBridge } from "../sidecar/open-bridge.js";
import { createStdioFront } from "../stdio/front.js";
import type { Command } from "./command.js";
import { EXIT, exitCodeOf } from "./exit-codes.js";
import { openPorts } from "./ports.js";
import { awaitStop } from "./signals.js";
import { createWitness } from "./witness.js";

/**
 * One client on standard input and output, one server behind. It goes on answering, with errors, when
 * the server cannot be reached: a client that is told why is better off than one that finds a closed
 * pipe. It ends with the input, and then says by its exit code whether there ever was a server.
 */
export const wrap: Command = async (options, terminal) => {
  const { connection, bridging } = options;
  if (connection === undefined) return EXIT.usage;
  const ports = openPorts(options, terminal);
  const name = nameOf(connection);
  const witness = createWitness(ports.journal);
  // Before anything is started: whoever stops this in its first moment must not leave that behind.
  const stop = awaitStop(["SIGINT", "SIGTERM", "SIGHUP"]);
  const bridge = openBridge(
    { name, connection, ...bridging },
    // Without the bridge the client would have had the server's own words on this very stream.
    { ...ports, journal: witness, onStderr: (line) => terminal.err(`${line}\n`) },
  );
  let failed = false;
  if (!bridging.lazy) {
    bridge.warm().catch((error: unknown) => {
      failed = true;
      ports.journal.error("server-unavailable", { upstream: name, error });
    });
  }
  const ended = bridge.accept(createStdioFront({ limits: bridging.limits }));
  const signal = await Promise.race([ended, stop.stopped]);
  await bridge.close();
  // The client had its time to read.
  terminal.leaveUnread?.();
  if (signal !== undefined) return exitCodeOf(signal);
  const trouble = failed || witness.died();
  return trouble && !witness.wasThere() ? EXIT.upstream : EXIT.ok;
};
