import { expect, test } from "vitest";
import { lowerRequest } from "../../src/translation/lower.js";
import { nextCursor, readPages } from "../../src/translation/pagination.js";

const page = (cursor?: string): string =>
  cursor === undefined ? '{"tools":[]}' : `{"tools":[],"nextCursor":${cursor}}`;

test("cursors pass as they are, the empty one too", () => {
  expect(lowerRequest("tools/list", '{"cursor":""}', undefined)).toBe('{"cursor":""}');
  expect(nextCursor('{"nextCursor":""}')).toBe('""');
  expect(nextCursor('{"nextCursor":null}')).toBeUndefined();
});

test("a list is read to its end with the server's own cursors", async () => {
  const asked: string[] = [];
  const pages = [page('"\\u0061"'), page('""'), page()];
  const whole = await readPages(
    async (params) => {
      asked.push(params);
      return pages[asked.length - 1];
    },
    10,
    () => {},
  );
  expect(whole).toBe(true);
  expect(asked).toEqual(["{}", '{"cursor":"\\u0061"}', '{"cursor":""}']);
});

test("a server that repeats a cursor, or never ends, is left", async () => {
  let asked = 0;
  const same = async (): Promise<string> => {
    asked += 1;
    return page('"x"');
  };
  expect(await readPages(same, 10, () => {})).toBe(true);
  expect(asked).toBe(2);
  asked = 0;
  const endless = async (): Promise<string> => page(`"${asked++}"`);
  await readPages(endless, 5, () => {});
  expect(asked).toBe(5);
});

test("a page that does not come leaves the list unread", async () => {
  expect(
    await readPages(
      async () => undefined,
      10,
      () => {},
    ),
  ).toBe(false);
});
