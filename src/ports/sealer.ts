/** Authenticated encryption of small strings, with a key that may be shared by several instances. */
export interface Sealer {
  /** Visible ASCII, URL-safe; different each time. */
  seal(plain: string): string;
  /** Undefined for anything that this key did not seal, changed, cut or foreign. */
  open(sealed: string): string | undefined;
  /** A keyed digest of a text, for comparing without keeping it. */
  fingerprint(text: string): string;
}
