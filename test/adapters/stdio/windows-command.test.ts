import { expect, test } from "vitest";
import { toWindowsCommand } from "../../../adapters/stdio/windows-command.js";

const environment = {
  Path: "C:\\tools;C:\\node\\",
  PATHEXT: ".COM;.EXE;.BAT;.CMD",
  ComSpec: "C:\\Windows\\system32\\cmd.exe",
};
const files =
  (...paths: string[]) =>
  (path: string) =>
    paths.includes(path);

test("a program is started as it is", () => {
  expect(toWindowsCommand("node", ["a b", "&"], environment, files("C:\\node\\node.exe"))).toEqual({
    file: "C:\\node\\node.exe",
    args: ["a b", "&"],
    verbatim: false,
  });
});

test("a command that is found nowhere is left for the system to refuse", () => {
  expect(toWindowsCommand("nothing", [], environment, files())).toEqual({
    file: "nothing",
    args: [],
    verbatim: false,
  });
});

test("a package runner is a batch file and goes through the shell", () => {
  expect(toWindowsCommand("npx", ["-y", "pkg"], environment, files("C:\\node\\npx.cmd"))).toEqual({
    file: "C:\\Windows\\system32\\cmd.exe",
    args: ["/d", "/s", "/c", '"C:\\node\\npx.cmd ^^^"-y^^^" ^^^"pkg^^^""'],
    verbatim: true,
  });
});

test("the folder's order counts before the extension's, and a path is not searched for", () => {
  const both = files("C:\\tools\\run.cmd", "C:\\node\\run.exe");
  expect(toWindowsCommand("run", [], environment, both).args[3]).toBe('"C:\\tools\\run.cmd"');
  const local = files(".\\run.bat", "C:\\tools\\run.cmd");
  expect(toWindowsCommand(".\\run", [], environment, local).args[3]).toBe('".\\run.bat"');
});

test.each([
  ["a b", '^^^"a^^^ b^^^"'],
  ["", '^^^"^^^"'],
  ['say "hi"', '^^^"say^^^ \\^^^"hi\\^^^"^^^"'],
  ["C:\\dir\\", '^^^"C:\\dir\\\\^^^"'],
  ['\\"', '^^^"\\\\\\^^^"^^^"'],
  ["%PATH%&calc", '^^^"^^^%PATH^^^%^^^&calc^^^"'],
])("the argument %j reaches a batch file's program unchanged", (argument, quoted) => {
  const command = toWindowsCommand("x.cmd", [argument], environment, files("C:\\tools\\x.cmd"));
  expect(command.args[3]).toBe(`"C:\\tools\\x.cmd ${quoted}"`);
});

test("an argument with a line break cannot pass a batch file and is refused", () => {
  const found = files("C:\\tools\\x.cmd");
  expect(() => toWindowsCommand("x.cmd", ["a\nb"], environment, found)).toThrow(RangeError);
  expect(toWindowsCommand("x.exe", ["a\nb"], environment, files()).args).toEqual(["a\nb"]);
});
