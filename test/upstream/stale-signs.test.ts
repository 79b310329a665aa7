import { describe, expect, it } from "vitest";
import { BridgeError } from "../../src/index.js";
import { toFailed } from "../../src/model/failure.js";
import type { Failed } from "../../src/model/operation.js";
import { hintsAtOtherEra, isUntouched } from "../../src/upstream/stale-signs.js";

function fromPeer(code: number): Failed {
  return { type: "failed", cause: "peer", error: { code, text: `{"code":${code}}` } };
}

function fromBridge(...of: ConstructorParameters<typeof BridgeError>): Failed {
  return toFailed(new BridgeError(...of));
}

const refusedHandshake = fromBridge("upstream-unavailable", "refused", { data: { code: -32601 } });

/** An error of a tool that has a code of its own in its data. */
const withOwnCode: Failed = {
  type: "failed",
  cause: "peer",
  error: { code: -32603, text: '{"code":-32603,"data":{"code":7}}' },
};

describe("signs that a verdict is stale", () => {
  it.each([
    ["legacy", fromPeer(-32022), true],
    ["legacy", refusedHandshake, true],
    ["legacy", fromPeer(-32601), false],
    ["legacy", fromPeer(-32602), false],
    ["legacy", fromBridge("upstream-lost", "gone"), false],
    ["legacy", withOwnCode, false],
    ["modern", fromPeer(-32601), true],
    ["modern", fromPeer(-32600), true],
    ["modern", fromPeer(-32000), true],
    ["modern", fromPeer(-32602), false],
    ["modern", fromPeer(-32022), false],
    ["modern", fromBridge("upstream-unavailable", "down"), false],
  ] as const)("%s and %j: %s", (era, failed, expected) => {
    expect(hintsAtOtherEra(era, failed)).toBe(expected);
  });
});

describe("whether a failed operation may be sent once more", () => {
  it.each([
    [fromPeer(-32022), true],
    [fromPeer(-32601), true],
    [fromPeer(-32603), false],
    [refusedHandshake, true],
    [fromBridge("upstream-unavailable", "down"), true],
    [fromBridge("upstream-invalid", "refused", { data: { status: 404 } }), true],
    [fromBridge("upstream-invalid", "refused", { data: { status: 500 } }), false],
    [fromBridge("upstream-invalid", "no message"), false],
    [fromBridge("upstream-lost", "gone"), false],
    [fromBridge("upstream-timeout", "slow"), false],
  ] as const)("%j: %s", (failed, expected) => {
    expect(isUntouched(failed)).toBe(expected);
  });
});
