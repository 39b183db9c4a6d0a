import { expect, test } from "vitest";

import { contentIn, fileIdsIn } from "./queries";
import { formatSize } from "./size";

test("sizes are short", () => {
  const shown = [0, 1, 1023, 1024, 1536, 26_214_400, 5 * 1024 ** 4].map(formatSize);
  expect(shown).toEqual(["0 bytes", "1 byte", "1,023 bytes", "1 kB", "1.5 kB", "25 MB", "5,120 GB"]);
});

test("ids of files are found anywhere in a value, once each", () => {
  const [a, b] = [`fil_${"a".repeat(32)}`, `fil_${"b".repeat(32)}`];
  expect(fileIdsIn({ report: a, more: [{ x: b }, a], text: `see ${a}`, near: `${a}0` })).toEqual([a, b]);
  expect(fileIdsIn(undefined)).toEqual([]);
  expect(contentIn("inv_1", "../x")).toBe("/api/v1/invocations/inv_1/files/..%2Fx");
});
