import { execFile } from "node:child_process";
import { PassThrough, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createStdioFront } from "../../../adapters/stdio/front.js";
import { channelContract, record } from "../../contracts/channel-contract.js";

channelContract("stdio front", async (limits) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  output.pipe(input, { end: false });
  return {
    channel: createStdioFront({ input, output, limits: { ...limits, stopGraceMs: 100 } }),
    say: (text) => void input.write(`${text}\n`),
    leave: () => void input.end(),
    stall: () => void output.unpipe(input),
  };
});

function create<Output extends Writable>(output: Output) {
  const input = new PassThrough();
  const channel = createStdioFront({ input, output, limits: { stopGraceMs: 100 } });
  return { input, output, channel };
}

test("after the end of the input, answers still go out until it is closed", async () => {
  const { input, output, channel } = create(new PassThrough());
  const seen = record(channel);
  input.end("1\n2");
  await seen.until(() => seen.ends.length === 1);
  expect(seen.messages).toEqual(["1", "2"]);
  expect(seen.ends).toEqual([{ expected: false, detail: "end of input", halfOpen: true }]);
  channel.send('"answer"');
  await channel.close();
  channel.send('"too late"');
  expect(String(output.read())).toBe('"answer"\n');
  expect(seen.ends).toHaveLength(1);
});

test("a client that reads no more ends it without an exception", async () => {
  const output = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error("write"), { code: "EPIPE" })),
  });
  const { channel } = create(output);
  const seen = record(channel);
  channel.send("1");
  await new Promise((resolve) => output.once("close", resolve));
  channel.send("2");
  expect(seen.ends).toEqual([{ expected: false, detail: "output failed (EPIPE)" }]);
  await channel.close();
});

test("closing does not wait for ever for a client that does not read", async () => {
  const { channel, output } = create(new Writable({ write: () => undefined }));
  const seen = record(channel);
  channel.send("1");
  await channel.close();
  expect(seen.ends).toEqual([{ expected: true, detail: "closed by this side" }]);
  expect(output.destroyed).toBe(true);
});

test("lines that are too long or no UTF-8 are dropped and the next ones arrive", async () => {
  const input = new PassThrough();
  const channel = createStdioFront({
    input,
    output: new PassThrough(),
    limits: { maxMessageBytes: 4 },
  });
  const seen = record(channel);
  input.write("12345\n1\n");
  input.write(Buffer.of(0xff, 0x0a));
  input.write("2\n");
  await seen.until(() => seen.messages.length === 2);
  expect(seen.messages).toEqual(["1", "2"]);
  expect(seen.dropped.map(({ reason }) => reason)).toEqual(["oversized", "not-utf8"]);
  await channel.close();
});

test("the output of a process carries the protocol and nothing else while it is open", async () => {
  const host = fileURLToPath(new URL("front-host.ts", import.meta.url));
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, ["--import", "tsx", host], (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
    child.stdin?.end('{"id":1}\r\n\r\n{"id":2}\n');
  });
  expect(stdout).toBe('{"id":1}\n{"id":2}\n"end of input"\n"afterwards"\n');
  expect(stderr).toContain("printed by somebody else");
});
