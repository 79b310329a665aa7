import { expect, test } from "vitest";
import { PONG } from "../../src/translation/liveness.js";

test("a ping is answered with an empty result", () => {
  expect(PONG).toBe("{}");
});
