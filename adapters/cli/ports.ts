import { readFileSync } from "node:fs";
import { UsageError } from "../sidecar/usage-error.js";
import { createSystemPorts, type SystemPorts } from "../system/ports.js";
import type { Options } from "./arguments.js";
import type { Terminal } from "./command.js";

function readSecret(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`--secret-file: ${error instanceof Error ? error.message : error}`);
  }
}

/** Clock, randomness, log and seals as the options ask. Throws UsageError for an unusable secret. */
export function openPorts(options: Options, terminal: Terminal): SystemPorts {
  const { secretFile, logLevel, logFormat } = options;
  try {
    return createSystemPorts({
      level: logLevel,
      format: logFormat,
      write: terminal.err,
      ...(secretFile === undefined ? {} : { secret: readSecret(secretFile) }),
    });
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`--secret-file: ${error.message}`);
    throw error;
  }
}
