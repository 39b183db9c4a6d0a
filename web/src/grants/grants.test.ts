import { expect, test } from "vitest";

import { coverage, type Grant, timesUsed } from "./queries";

test("a grant says what it covers", () => {
  const covers = (bounds: unknown) => coverage({ arguments: bounds } as Grant);
  expect(covers(undefined)).toBe("Any input");
  expect(covers({ type: "object", const: { a: 1 } })).toBe("One input");
  expect(covers({ properties: { to: { const: "x" }, free: { type: "string" } } })).toBe('to = "x"');
  expect(covers({ properties: { amount: { maximum: 5 } } })).toBe("Some inputs");
});

test("a grant says how often it was used", () => {
  const used = (times: number) => timesUsed({ used: times } as Grant);
  expect([0, 1, 12, 1000].map(used)).toEqual(["Never", "1 time", "12 times", "1,000 times or more"]);
});
