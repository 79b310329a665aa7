import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createSealer } from "../../../adapters/system/sealer.js";
import { sealerContract } from "../../contracts/sealer-contract.js";

const secretOf = (name: string) => createHash("sha256").update(name).digest();

sealerContract("AES-GCM", (key) => createSealer({ secret: secretOf(key) }));

test("without a secret every sealer has a key of its own", () => {
  const [one, two] = [createSealer(), createSealer()];
  expect(one.open(one.seal("text"))).toBe("text");
  expect(two.open(one.seal("text"))).toBeUndefined();
});

test("a secret longer than a key counts in full", () => {
  const long = Buffer.alloc(100, 1);
  const other = Buffer.from(long);
  other[99] = 2;
  const sealed = createSealer({ secret: long }).seal("text");
  expect(createSealer({ secret: long }).open(sealed)).toBe("text");
  expect(createSealer({ secret: other }).open(sealed)).toBeUndefined();
});

test("a secret of less than 32 bytes is refused", () => {
  expect(() => createSealer({ secret: Buffer.alloc(31) })).toThrow(RangeError);
});

test("seals of one key share a visible prefix, other keys have another", () => {
  const prefix = (name: string) =>
    createSealer({ secret: secretOf(name) })
      .seal("x")
      .split(".")[0];
  expect(prefix("one")).toMatch(/^1[A-Za-z0-9_-]{4}$/);
  expect(prefix("one")).toBe(prefix("one"));
  expect(prefix("one")).not.toBe(prefix("two"));
});
