export interface Entropy {
  /** 128 unguessable bits as visible ASCII, URL-safe. */
  token(): string;
}
