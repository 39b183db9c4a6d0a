import { expect, test } from "vitest";

import { coverage, type Grant } from "./queries";

test("a grant says what it covers", () => {
  const covers = (bounds: unknown) => coverage({ arguments: bounds } as Grant);
  expect(covers(undefined)).toBe("Any input");
  expect(covers({ type: "object", const: { a: 1 } })).toBe("One input");
  expect(covers({ properties: { to: { const: "x" }, free: { type: "string" } } })).toBe('to = "x"');
  expect(covers({ properties: { amount: { maximum: 5 } } })).toBe("Some inputs");
});
