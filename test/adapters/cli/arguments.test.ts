import { describe, expect, it } from "vitest";
import { type Options, readArguments } from "../../../adapters/cli/arguments.js";
import { UsageError } from "../../../adapters/sidecar/usage-error.js";

function optionsOf(line: string, env: Readonly<Record<string, string>> = {}): Options {
  const invocation = readArguments(line.split(" "), env);
  if (invocation.type !== "run") throw new Error(`${line}: ${invocation.type}`);
  return invocation.options;
}

function misuse(argv: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  try {
    readArguments(argv, env);
  } catch (error) {
    if (error instanceof UsageError) return `${error.message}; ${error.hint ?? ""}`;
    throw error;
  }
  throw new Error(`accepted: ${argv.join(" ")}`);
}

describe("the server on the command line", () => {
  it("is everything behind --", () => {
    expect(optionsOf("wrap --cwd / -- npx -y server --port 1").connection).toEqual({
      type: "command",
      command: "npx",
      args: ["-y", "server", "--port", "1"],
      env: {},
      inheritEnv: false,
      cwd: "/",
    });
  });

  it("starts at the first word that is neither option nor URL, so -- can be left out", () => {
    expect(optionsOf("wrap --lazy npx -y server --help").connection).toMatchObject({
      command: "npx",
      args: ["-y", "server", "--help"],
    });
  });

  it("is a URL of http or ws, with options on either side", () => {
    const options = optionsOf("serve --port 0 wss://example.com/mcp --host ::1");
    expect(options.connection).toEqual({
      type: "url",
      url: "wss://example.com/mcp",
      headers: {},
    });
    expect(options.listen).toMatchObject({ port: 0, host: "::1" });
  });

  it("may be a URL behind -- too", () => {
    expect(optionsOf("serve --lazy -- http://a/mcp").connection).toMatchObject({
      url: "http://a/mcp",
    });
  });

  it("is refused when there are two, or none", () => {
    expect(misuse(["wrap", "http://a/", "http://b/"])).toContain("one server at a time");
    expect(misuse(["wrap", "http://a/", "--", "b"])).toContain("one server at a time");
    expect(misuse(["serve", "--config", "f.json", "--", "b"])).toContain("--config names");
    expect(misuse(["wrap"])).toContain("wrap needs a server");
    expect(misuse(["check", "http://"])).toContain("no URL");
  });
});

describe("options", () => {
  it("read durations and sizes with their units", () => {
    const line =
      "wrap --request-timeout 30s --park-timeout 10m --eof-grace 500ms --session-idle 1500 --max-body 64mb --limit maxSessions=7 --limit drainMs=1.5s -- x";
    expect(optionsOf(line).bridging.limits).toEqual({
      requestTimeoutMs: 30_000,
      parkMs: 600_000,
      eofGraceMs: 500,
      sessionIdleMs: 1_500,
      maxMessageBytes: 67_108_864,
      maxSessions: 7,
      drainMs: 1_500,
    });
  });

  it("come from the environment too, and the command line wins", () => {
    const env = {
      ERABRIDGE_PORT: "9000",
      ERABRIDGE_HOST: "::1",
      ERABRIDGE_LAZY: "yes",
      ERABRIDGE_HEADER: "A: 1\nB: 2",
    };
    const options = optionsOf("serve --port 9001 http://a/mcp", env);
    expect(options.listen).toMatchObject({ port: 9001, host: "::1" });
    expect(options.bridging.lazy).toBe(true);
    expect(options.connection).toMatchObject({ headers: { a: "1", b: "2" } });
  });

  it("of another command are ignored in the environment and refused on the command line", () => {
    expect(optionsOf("wrap -- x", { ERABRIDGE_PORT: "junk" }).connection).toMatchObject({
      command: "x",
    });
    expect(misuse(["wrap", "--port", "1", "--", "x"])).toBe(
      "--port does not apply to wrap; it belongs to: serve",
    );
  });

  it("put variables into headers and tokens, and refuse those that are not set", () => {
    const argv = [
      "serve",
      "--header",
      "Authorization: Bearer ${KEY}",
      "http://a/",
      "--token",
      "ci:${T}",
    ];
    const invocation = readArguments(argv, { KEY: "k", T: "t==" });
    expect(invocation).toMatchObject({
      options: {
        connection: { headers: { authorization: "Bearer k" } },
        listen: { tokens: [{ principal: "ci", secret: "t==" }] },
      },
    });
    expect(misuse(argv, { T: "t" })).toContain("--header names variables that are not set: KEY");
  });

  it("give the child the variables that are named, with a value or this process's own", () => {
    const { connection } = optionsOf("wrap --env A=1=2 --env B -- x", { B: "b", C: "c" });
    expect(connection).toMatchObject({ env: { A: "1=2", B: "b" } });
    expect(misuse(["wrap", "--env", "NOPE", "--", "x"])).toContain("not set");
  });

  it("that are flags can be switched off", () => {
    expect(optionsOf("wrap -- x").bridging.forwardUnknown).toBe(true);
    expect(optionsOf("wrap --no-forward-unknown -- x").bridging.forwardUnknown).toBe(false);
  });

  it.each([
    [["wrap", "--prot", "1", "--", "x"], "unknown option --prot; did you mean --probe?"],
    [["serve", "--prot", "1", "--", "x"], "unknown option --prot; did you mean --port?"],
    [["wrap", "--zzzzzzz", "--", "x"], "unknown option --zzzzzzz; see erabridge wrap --help"],
    [["serve", "--port"], "--port needs a value; --port N"],
    [["serve", "--host", "--port", "1"], "--host needs a value; --host ADDRESS"],
    [
      ["serve", "--port", "65536", "http://a/"],
      "--port must be a number from 0 to 65535, not 65536",
    ],
    [["serve", "--port", "1e3", "http://a/"], "--port must be a number"],
    [["serve", "--path", "mcp", "http://a/"], "--path must start with /"],
    [["serve", "--token", "a b", "http://a/"], "a --token has characters"],
    [["wrap", "--request-timeout", "5 years", "--", "x"], "must be a duration such as 30s"],
    [["wrap", "--limit", "maxSession=1", "--", "x"], "did you mean maxSessions?"],
    [["wrap", "--limit", "maxSessions=1s", "--", "x"], "must be a whole number"],
    [["wrap", "--front-era", "old", "--", "x"], "it is one of: auto, legacy, modern"],
    [["wrap", "--upstream-era", "ancient", "--", "x"], "--upstream-era cannot be ancient"],
    [["wrap", "--probe", "none", "--", "x"], "--probe none needs --upstream-era"],
    [["wrap", "--session-policy", "pool:0", "--", "x"], "--session-policy cannot be pool:0"],
    [["wrap", "--header", "no colon", "http://a/"], "a --header is no header"],
    [["wrap", "--header", "A: b\r\nC: d", "http://a/"], "a --header is no header"],
    [["wrap", "--lazy=perhaps", "--", "x"], "--lazy must be true or false"],
    [["warp", "--", "x"], "there is no command warp; did you mean wrap?"],
    [["--port"], "there is no command --port"],
  ])("%j is refused with a hint", (argv, message) => {
    expect(misuse(argv)).toContain(message);
  });

  it("in the environment that make no sense are refused by name", () => {
    expect(misuse(["wrap", "--", "x"], { ERABRIDGE_LAZY: "maybe" })).toContain("ERABRIDGE_LAZY");
  });
});

describe("help", () => {
  it("is what nothing, --help and help ask for", () => {
    const overview = { type: "help", command: undefined };
    expect(readArguments([], {})).toEqual(overview);
    expect(readArguments(["--help"], {})).toEqual(overview);
    expect(readArguments(["help", "serve"], {})).toEqual({ type: "help", command: "serve" });
    expect(readArguments(["serve", "-h"], {})).toEqual({ type: "help", command: "serve" });
  });

  it("behind the server's command is the server's", () => {
    expect(readArguments(["wrap", "npx", "--help"], {})).toMatchObject({ type: "run" });
  });
});
