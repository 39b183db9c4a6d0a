import { expect, test } from "vitest";

import { initialOf, orderOf, prepareSchema } from "./prepare";

test("dependent schemas and fields become dependencies, all through the schema", () => {
  const prepared = prepareSchema({
    type: "object",
    properties: { a: { type: "object", dependentRequired: { x: ["y"] }, properties: { x: {}, y: {} } } },
    required: ["a"],
    dependentSchemas: { a: { properties: { b: { type: "string" } } } },
  });
  expect(prepared.dependencies).toMatchObject({ a: { properties: { b: { type: "string" } } } });
  expect((prepared.properties!.a as { dependencies: unknown }).dependencies).toEqual({ x: ["y"] });
});

test("what may be left out need not be null", () => {
  const { properties } = prepareSchema({
    properties: {
      a: { type: ["string", "null"], default: null },
      b: { anyOf: [{ type: "object", properties: { c: { type: "number" } } }, { type: "null" }] },
      must: { type: ["string", "null"] },
    },
    required: ["must"],
  });
  expect(properties!.a).toEqual({ type: "string", title: "A" });
  expect(properties!.b).toMatchObject({ type: "object" });
  expect(properties!.must).toMatchObject({ type: ["string", "null"] });
});

test("a part that nobody added has no defaults of its own", () => {
  const prepared = prepareSchema({
    properties: { choose: { type: "object", properties: { several: { type: "boolean", default: false } } }, rate: { default: 10 } },
  });
  expect((prepared.properties!.choose as { properties: { several: unknown } }).properties.several).toMatchObject({ "x-default": false });
  expect(initialOf(prepared)).toEqual({ rate: 10 });
});

test("schemas that refer to themselves end", () => {
  const prepared = prepareSchema({
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
    properties: { first: { $ref: "#/$defs/node" } },
  });
  expect(prepared.properties!.first).toBeDefined();
});

test("what a condition brings stands below what brings it", () => {
  const order = orderOf({
    properties: { kind: {}, last: {} },
    if: { properties: { kind: { const: "other" } } },
    then: { properties: { which: {} } },
  });
  expect(order).toEqual(["kind", "which", "last", "*"]);
  expect(orderOf({ properties: { a: {} } })).toBeUndefined();
});
