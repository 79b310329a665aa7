const STRICT = new TextDecoder("utf-8", { fatal: true });
const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });

/** Gathers a response body up to a limit. */
export interface BodyCollector {
  /** False when the limit is exceeded; what came is then of no use. */
  push(chunk: Uint8Array): boolean;
  /** The whole text; undefined when it is no UTF-8. */
  text(): string | undefined;
}

export function createBodyCollector(maxBytes: number): BodyCollector {
  let first: Uint8Array | undefined;
  let more: Uint8Array[] | undefined;
  let size = 0;

  return {
    push(chunk) {
      size += chunk.length;
      if (size > maxBytes) return false;
      if (first === undefined) first = chunk;
      else if (more === undefined) more = [chunk];
      else more.push(chunk);
      return true;
    },
    text() {
      if (first === undefined) return "";
      return decodeStrict(more === undefined ? first : join(first, more, size));
    },
  };
}

function join(first: Uint8Array, more: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  whole.set(first, 0);
  let at = first.length;
  for (const chunk of more) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function decodeStrict(bytes: Uint8Array): string | undefined {
  try {
    return STRICT.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text with U+FFFD for what is no UTF-8, as event streams are read. A byte order mark stays. */
export function decodeLenient(bytes: Uint8Array): string {
  return LENIENT.decode(bytes);
}
