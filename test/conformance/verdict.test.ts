import { describe, expect, it } from "vitest";
import { type Check, judge, type ScenarioRecord } from "./verdict.js";

const passes: Check = { id: "passes", status: "SUCCESS" };
const fails: Check = { id: "fails", status: "FAILURE", errorMessage: "no such tool" };
const warns: Check = { id: "warns", status: "WARNING", errorMessage: "should do better" };

function server(scenarios: number, ...expectedFailures: string[]) {
  return { scenarios, warningsFail: false, expectedFailures };
}

function record(scenario: string, ...checks: Check[]): ScenarioRecord {
  return { scenario, checks };
}

describe("the judgement on a leg", () => {
  it("passes a scenario whose checks all succeed and counts its checks", () => {
    expect(judge([record("ping", passes, passes)], server(1))).toEqual({
      passed: 1,
      failed: 0,
      total: 1,
      checks: 2,
      warnings: 0,
      lines: [],
    });
  });

  it("fails a scenario with one failing check and names the check and its message", () => {
    const verdict = judge([record("ping", passes, fails)], server(1));
    expect(verdict).toMatchObject({ passed: 0, failed: 1 });
    expect(verdict.lines).toEqual(["  FAIL ping  fails: no such tool"]);
  });

  it("reports a warning of a server without failing it", () => {
    const verdict = judge([record("ping", warns)], server(1));
    expect(verdict).toMatchObject({ passed: 1, failed: 0, warnings: 1 });
    expect(verdict.lines).toEqual(["  WARN ping  warns: should do better"]);
  });

  it("fails a client for a warning", () => {
    const expectation = { scenarios: 1, warningsFail: true, expectedFailures: [] };
    expect(judge([record("ping", warns)], expectation)).toMatchObject({ passed: 0, failed: 1 });
  });

  it("fails a scenario that recorded nothing", () => {
    expect(judge([record("ping")], server(1))).toMatchObject({ passed: 0, failed: 1 });
  });

  it("fails when the suite has fewer or more scenarios than written down", () => {
    expect(judge([record("ping", passes)], server(3))).toMatchObject({ passed: 1, failed: 2 });
    expect(judge([record("ping", passes), record("pong", passes)], server(1))).toMatchObject({
      passed: 2,
      failed: 1,
    });
  });

  it("excuses an expected failure but no other check of its scenario", () => {
    const both = record("ping", fails, { ...fails, id: "too" });
    expect(judge([record("ping", fails)], server(1, "ping:fails"))).toMatchObject({ failed: 0 });
    expect(judge([both], server(1, "ping:fails"))).toMatchObject({ failed: 1 });
    expect(judge([both], server(1, "ping"))).toMatchObject({ failed: 0 });
  });

  it("fails an expected failure that has been fixed", () => {
    const verdict = judge([record("ping", passes)], server(1, "ping:fails"));
    expect(verdict).toMatchObject({ passed: 1, failed: 1 });
    expect(verdict.lines).toEqual(["  FAIL ping:fails  is expected to fail but does not"]);
  });
});
