/** Gathers bytes that arrive in pieces. Pieces are copied, so the giver may reuse its memory. */
export interface ByteBuffer {
  readonly length: number;
  append(bytes: Uint8Array): void;
  /** A view of what has been gathered; valid until the next `append`, also after `clear`. */
  view(): Uint8Array;
  clear(): void;
}

/** Shared, for most buffers are never written to and memory outside the heap is slow to get. */
const EMPTY = new Uint8Array(0);
const FIRST_CAPACITY = 4_096;
/** A buffer grown beyond this is given back after use, so that one large message is not paid for ever. */
const KEPT_CAPACITY = 256 * 1_024;

/** Capacity doubles, so that any number of small pieces costs linear time. */
export function createByteBuffer(): ByteBuffer {
  let bytes = EMPTY;
  let length = 0;

  const grow = (needed: number): void => {
    const grown = new Uint8Array(Math.max(needed, bytes.length * 2, FIRST_CAPACITY));
    grown.set(bytes.subarray(0, length));
    bytes = grown;
  };

  return {
    get length() {
      return length;
    },
    append(piece) {
      if (length + piece.length > bytes.length) grow(length + piece.length);
      bytes.set(piece, length);
      length += piece.length;
    },
    view: () => bytes.subarray(0, length),
    clear() {
      length = 0;
      if (bytes.length > KEPT_CAPACITY) bytes = EMPTY;
    },
  };
}
