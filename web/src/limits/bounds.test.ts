import { expect, test } from "vitest";

import { boundsBody, boundsOf, boundsReady, boundsWords } from "./bounds";

const empty = boundsOf(null);

test("what stands written comes back as it was", () => {
  const written = { rate_per_minute: 60, concurrency: 4, cost: { micros: 1_234_567, every: "month" }, on_overrun: "ask" };
  expect(boundsBody(boundsOf(written))).toEqual(written);
  expect(boundsBody(empty)).toEqual({ rate_per_minute: undefined, concurrency: undefined, cost: undefined, on_overrun: "stop" });
});

test("nothing is bounded by nothing, and words are no numbers", () => {
  expect(boundsReady(empty)).toEqual({ some: false, right: true });
  expect(boundsReady({ ...empty, rate: "10" })).toEqual({ some: true, right: true });
  for (const wrong of ["ten", "0", "-1", "1.5", "1e3"]) expect(boundsReady({ ...empty, rate: wrong }).right, wrong).toBe(false);
  for (const wrong of ["much", "0", "-2", "Infinity"]) expect(boundsReady({ ...empty, cost: wrong }).right, wrong).toBe(false);
  expect(boundsReady({ ...empty, cost: "0.000001" })).toEqual({ some: true, right: true });
});

test("bounds are said in words", () => {
  expect(boundsWords({})).toBe("Nothing");
  expect(boundsWords({ rate_per_minute: 1000, cost: { micros: 2_500_000, every: "day" }, on_overrun: "ask" })).toBe(
    "1,000 a minute, cost 2.5 a day; then a person is asked",
  );
});
