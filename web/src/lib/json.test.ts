import { expect, test } from "vitest";

import { jsonIn, stable } from "./json";

test("the order of keys makes no difference", () => {
  expect(stable({ b: [{ d: 1, c: 2 }], a: null })).toBe(stable({ a: null, b: [{ c: 2, d: 1 }] }));
  expect(stable([1, 2])).not.toBe(stable([2, 1]));
  expect(stable(undefined)).toBe("undefined");
});

test("a text that is an object or a list is found, with or without room between", () => {
  for (const text of ['{"a b":[1,2.5],"c":"x \\" y"}', ' {\n "a b": [1, 2.5],\n "c": "x \\" y"\n}\n']) {
    expect(jsonIn(text)).toEqual({ value: { "a b": [1, 2.5], c: 'x " y' }, exact: true });
  }
  for (const text of ["", "12", "true", '"a"', "[see](there)", "{a}", "{} and more"]) expect(jsonIn(text), text).toBeNull();
});

test("what reading would change is told apart", () => {
  for (const text of ['{"id":12345678901234567890}', "[1.0]", '{"a":1,"a":2}']) expect(jsonIn(text)?.exact, text).toBe(false);
});
