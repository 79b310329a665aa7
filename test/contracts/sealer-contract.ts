import { expect, test } from "vitest";
import type { Sealer } from "../../src/index.js";

/** What every sealer promises. `create(name)` gives sealers that share a key where names are equal. */
export function sealerContract(name: string, create: (key: string) => Sealer): void {
  const texts = ["", "a", '{"round":1}', "ü漢😀\u0000", "x".repeat(200_000)];

  test(`${name}: whoever holds the key opens what was sealed`, () => {
    const [ours, theirs] = [create("one"), create("one")];
    for (const text of texts) expect(theirs.open(ours.seal(text))).toBe(text);
  });

  test(`${name}: sealed texts are visible, URL-safe ASCII and differ each time`, () => {
    const sealer = create("one");
    const sealed = Array.from({ length: 100 }, () => sealer.seal("the same"));
    expect(new Set(sealed).size).toBe(100);
    for (const text of sealed) {
      expect(text).toMatch(/^[A-Za-z0-9._~-]+$/);
      expect(text).not.toContain("same");
    }
  });

  test(`${name}: another key opens nothing`, () => {
    expect(create("two").open(create("one").seal("secret"))).toBeUndefined();
  });

  test(`${name}: any changed, cut or lengthened text is refused`, () => {
    const sealer = create("one");
    const sealed = sealer.seal("text");
    for (let at = 0; at < sealed.length; at += 1) {
      const other = sealed[at] === "A" ? "B" : "A";
      expect(sealer.open(sealed.slice(0, at) + other + sealed.slice(at + 1))).toBeUndefined();
      expect(sealer.open(sealed.slice(0, at))).toBeUndefined();
    }
    for (const extra of ["A", "=", " ", "\n", "!", "."]) {
      expect(sealer.open(sealed + extra)).toBeUndefined();
      expect(sealer.open(extra + sealed)).toBeUndefined();
    }
  });

  test(`${name}: garbage is refused without an exception`, () => {
    const sealer = create("one");
    for (const text of ["", ".", "null", "{}", "ü", "\u0000", "A".repeat(100_000)]) {
      expect(sealer.open(text)).toBeUndefined();
    }
  });

  test(`${name}: fingerprints are equal for equal texts under equal keys only`, () => {
    const [one, same, two] = [create("one"), create("one"), create("two")];
    expect(one.fingerprint("text")).toBe(same.fingerprint("text"));
    expect(one.fingerprint("text")).not.toBe(one.fingerprint("text "));
    expect(one.fingerprint("text")).not.toBe(two.fingerprint("text"));
    expect(one.fingerprint("text").length).toBeGreaterThanOrEqual(22);
  });
}
