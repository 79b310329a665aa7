import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import type { Sealer } from "../../src/index.js";

/** 256 bits: whoever guesses the secret can forge sessions and resume other people's calls. */
const MIN_SECRET_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FINGERPRINT_BYTES = 16;
const FORMAT = "1";

export interface SealerOptions {
  /**
   * At least 32 bytes, the same for all instances that open each other's seals; a file's content
   * will do. Without it the key is random and what it sealed dies with the process.
   */
  readonly secret?: Uint8Array | undefined;
}

/**
 * AES-256-GCM under a key derived from the secret. A sealed text reads
 * `<format><key id>.<base64url of nonce, ciphertext, tag>`; the part before the dot is authenticated
 * too, and tells a foreign key from a damaged text when one looks at it.
 * Throws RangeError when the secret is too short.
 */
export function createSealer(options: SealerOptions = {}): Sealer {
  const secret = options.secret ?? randomBytes(MIN_SECRET_BYTES);
  if (secret.length < MIN_SECRET_BYTES) {
    throw new RangeError(`a secret needs at least ${MIN_SECRET_BYTES} bytes, not ${secret.length}`);
  }
  const derive = (purpose: string, length: number): Buffer =>
    Buffer.from(hkdfSync("sha256", secret, "", `erabridge ${purpose}`, length));
  const key = derive("seal", 32);
  const fingerprintKey = derive("fingerprint", 32);
  const prefix = `${FORMAT}${derive("key id", 3).toString("base64url")}.`;
  const associated = Buffer.from(prefix);

  return {
    seal(plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      cipher.setAAD(associated);
      const body = Buffer.concat([
        nonce,
        cipher.update(plain, "utf8"),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return prefix + body.toString("base64url");
    },
    open(sealed) {
      if (!sealed.startsWith(prefix)) return undefined;
      const text = sealed.slice(prefix.length);
      const body = Buffer.from(text, "base64url");
      // Decoding is lenient; without this, several spellings would stand for one seal.
      if (body.length < NONCE_BYTES + TAG_BYTES || body.toString("base64url") !== text)
        return undefined;
      const decipher = createDecipheriv("aes-256-gcm", key, body.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(associated);
      decipher.setAuthTag(body.subarray(-TAG_BYTES));
      try {
        const plain = decipher.update(body.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([plain, decipher.final()]).toString("utf8");
      } catch {
        return undefined;
      }
    },
    fingerprint(text) {
      const digest = createHmac("sha256", fingerprintKey).update(text, "utf8").digest();
      return digest.subarray(0, FINGERPRINT_BYTES).toString("base64url");
    },
  };
}
