import { StringDecoder } from "node:string_decoder";

export interface StderrTail {
  push(chunk: Buffer): void;
  end(): void;
  /** The last characters of what was written. */
  text(): string;
}

/**
 * Takes a server's standard error: calls `onLine` for each line, cut where it is longer than
 * `maxBytes`, and keeps as much of the end. Never more is held, whatever is written.
 */
export function createStderrTail(options: {
  readonly maxBytes: number;
  readonly onLine?: ((line: string) => void) | undefined;
}): StderrTail {
  const { maxBytes, onLine } = options;
  const decoder = new StringDecoder("utf8");
  let tail = "";
  let line = "";

  const take = (text: string): void => {
    tail = (tail + text).slice(-maxBytes);
    if (onLine === undefined) return;
    const lines = (line + text).split(/\r?\n/);
    line = lines.pop() ?? "";
    for (const whole of lines) if (whole !== "") onLine(whole.slice(0, maxBytes));
    if (line.length < maxBytes) return;
    onLine(line.slice(0, maxBytes));
    line = "";
  };

  return {
    push: (chunk) => take(decoder.write(chunk)),
    end() {
      take(decoder.end());
      if (line !== "") onLine?.(line);
      line = "";
    },
    text: () => tail,
  };
}
