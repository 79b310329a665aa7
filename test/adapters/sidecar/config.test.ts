import { describe, expect, it } from "vitest";
import { readConfig } from "../../../adapters/sidecar/config.js";
import { DEFAULT_BRIDGING } from "../../../adapters/sidecar/settings.js";

function read(file: unknown, variables: Readonly<Record<string, string>> = {}) {
  const text = typeof file === "string" ? file : JSON.stringify(file);
  return readConfig({ text, name: "file.json", variables, bridging: DEFAULT_BRIDGING });
}

describe("a configuration file", () => {
  it("names upstreams, with defaults for all and exceptions for one", () => {
    const { upstreams } = read({
      defaults: { requestTimeout: "30s", lazy: true, limits: { maxSessions: 9 } },
      upstreams: {
        a: { command: "run", args: ["x", 1], env: { K: "v", GONE: null }, cwd: "/srv" },
        b: { url: "http://h/mcp", headers: { "X-Key": "k" }, lazy: false, requestTimeout: 500 },
      },
    });
    expect(upstreams).toMatchObject([
      {
        name: "a",
        lazy: true,
        connection: {
          type: "command",
          command: "run",
          args: ["x", "1"],
          env: { K: "v" },
          cwd: "/srv",
        },
        limits: { requestTimeoutMs: 30_000, maxSessions: 9 },
      },
      {
        name: "b",
        lazy: false,
        connection: { type: "url", url: "http://h/mcp", headers: { "x-key": "k" } },
        limits: { requestTimeoutMs: 500, maxSessions: 9 },
      },
    ]);
  });

  it("may be what clients already have: mcpServers, or the servers of VS Code with comments", () => {
    const text = `{
      // servers of the editor
      "inputs": [],
      "servers": {
        "files": { "type": "stdio", "command": "npx", "args": ["-y", "files", "//no comment"], },
        "off": { "command": "never", "disabled": true },
      },
      /* and of another client */
      "mcpServers": { "web": { "type": "http", "url": "https://h/mcp" } }
    }`;
    const config = read(text);
    expect(config.upstreams.map((upstream) => upstream.name)).toEqual(["web", "files"]);
    expect(config.upstreams[1]?.connection).toMatchObject({
      args: ["-y", "files", "//no comment"],
    });
    expect(config.warnings).toEqual([]);
  });

  it("says where the sidecar listens and who may call", () => {
    const { listen } = read(
      { host: "0.0.0.0", port: 9, tokens: { ci: "${T}" }, upstreams: { a: { command: "x" } } },
      { T: "secret" },
    );
    expect(listen).toEqual({
      host: "0.0.0.0",
      port: 9,
      tokens: [{ principal: "ci", secret: "secret" }],
    });
  });

  it("warns of members nobody reads and goes on", () => {
    const { warnings } = read({
      prot: 1,
      defaults: { lasy: true },
      upstreams: { a: { command: "x", arguments: [], description: "fine" } },
    });
    expect(warnings).toEqual([
      "file.json: nobody reads prot",
      "file.json: nobody reads defaults.lasy",
      "file.json: nobody reads upstreams.a.arguments",
    ]);
  });

  it.each([
    ["{", /file.json is no JSON/],
    [{}, /has no server/],
    [{ upstreams: { a: {} } }, /server a needs either a command or a url/],
    [{ upstreams: { a: { command: "x", url: "http://h/" } } }, /either/],
    [{ upstreams: { a: { url: "ftp://h/" } } }, /no http\(s\) or ws\(s\) URL/],
    [{ upstreams: { a: { command: "x" } }, mcpServers: { a: { command: "y" } } }, /two servers a/],
    [{ upstreams: { a: { command: "${NOPE}" } } }, /not set: NOPE/],
    [
      { servers: { a: { command: "x", env: { K: "${input:key}" } } } },
      /nobody here can fill \$\{input:key\}/,
    ],
    [{ port: "80", upstreams: {} }, /port/],
    [{ upstreams: { a: { command: "x", requestTimeout: "soon" } } }, /requestTimeout/],
    [{ upstreams: { a: { command: "x", limits: { maxSession: 1 } } } }, /no limit maxSession/],
    [{ upstreams: { a: { command: "x", probe: "hard" } } }, /probe/],
    [{ upstreams: { a: { command: "x", probe: "none" } } }, /probe none needs upstreamEra/],
    [
      { defaults: { sameResource: true }, upstreams: { a: { command: "x" } } },
      /server a: the same resource must be at an http\(s\) URL/,
    ],
    [{ upstreams: { a: { url: "wss://h/mcp", sameResource: true } } }, /must be at an http/],
    [
      {
        upstreams: {
          a: { url: "https://h/mcp", sameResource: true, headers: { Authorization: "x" } },
        },
      },
      /server a: the same resource gets the credentials of its clients/,
    ],
  ])("is refused when it cannot be: %j", (file, message) => {
    expect(() => read(file)).toThrow(message);
  });
});
