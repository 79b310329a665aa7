import { expect, test } from "vitest";
import { toChildEnvironment } from "../../../adapters/stdio/environment.js";

const own = {
  PATH: "/bin",
  HOME: "/home/me",
  LANG: "C.UTF-8",
  API_KEY: "secret",
  NODE_OPTIONS: "--inspect",
  EMPTY: undefined,
};

test("only what a program needs is handed on", () => {
  expect(toChildEnvironment({}, own, "linux")).toEqual({
    PATH: "/bin",
    HOME: "/home/me",
    LANG: "C.UTF-8",
  });
});

test("named variables are added and win", () => {
  const variables = { API_KEY: "other", HOME: "/srv" };
  expect(toChildEnvironment({ variables }, own, "linux")).toEqual({
    PATH: "/bin",
    HOME: "/srv",
    LANG: "C.UTF-8",
    API_KEY: "other",
  });
});

test("everything is handed on only when asked for", () => {
  expect(toChildEnvironment({ inherit: true }, own, "linux")).toEqual({
    PATH: "/bin",
    HOME: "/home/me",
    LANG: "C.UTF-8",
    API_KEY: "secret",
    NODE_OPTIONS: "--inspect",
  });
});

test("Windows has its own names, in any case", () => {
  const windows = { Path: "C:\\bin", SystemRoot: "C:\\Windows", ComSpec: "cmd.exe", API_KEY: "x" };
  expect(toChildEnvironment({}, windows, "win32")).toEqual({
    Path: "C:\\bin",
    SystemRoot: "C:\\Windows",
    ComSpec: "cmd.exe",
  });
});
