import type { RJSFSchema } from "@rjsf/utils";
import { describe, expect, test } from "vitest";

import { faultsOf, validator } from "./validator";

function check(schema: unknown, data: unknown, expected: [string, string][]): void {
  const found = faultsOf(schema as RJSFSchema, data).map(({ path, message }) => [path.join("/"), message]);
  expect(found).toEqual(expected);
}

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

describe("what is wrong is said once, at its field, in plain words", () => {
  test("what is missing", () => check(object({ a: { type: "string" } }, { required: ["a"] }), {}, [["a", "Fill this in."]]));
  test("what is missing inside", () =>
    check(object({ a: object({ "b c": {} }, { required: ["b c"] }) }), { a: {} }, [["a/b c", "Fill this in."]]));
  test("numbers", () => {
    check(object({ n: { type: "number", minimum: 2 } }), { n: 1 }, [["n", "At least 2."]]);
    check(object({ n: { type: "number", exclusiveMaximum: 2 } }), { n: 2 }, [["n", "Less than 2."]]);
    check(object({ n: { type: "integer" } }), { n: 1.5 }, [["n", "A whole number."]]);
  });
  test("lists", () => {
    check(object({ l: { type: "array", minItems: 1 } }), { l: [] }, [["l", "Add at least one."]]);
    check(object({ l: { type: "array", items: { type: "string", minLength: 1 } } }), { l: ["a", ""] }, [["l/1", "Fill this in."]]);
  });
  test("through references", () =>
    check({ $defs: { n: { type: "number", maximum: 5 } }, ...object({ n: { $ref: "#/$defs/n" } }) }, { n: 9 }, [["n", "At most 5."]]));
  test("fields that nobody knows", () =>
    check(object({}, { additionalProperties: false }), { x: 1 }, [["", "There is a field here that the tool does not know."]]));
  test("names with slashes and tildes", () =>
    check(object({ "a/b~c": { type: "string" } }), { "a/b~c": 1 }, [["a/b~c", "This must be text."]]));
});

test("what is not filled in is not there", () => check(object({ a: { type: "string" } }), { a: undefined }, []));

test("a pattern no browser understands is left to the server", () =>
  check(object({ a: { type: "string", pattern: "(?<=x" } }), { a: "y" }, []));

test("a part of a schema may refer to the whole", () => {
  const root = { $defs: { word: { const: "yes" } } } as RJSFSchema;
  expect(validator.isValid({ $ref: "#/$defs/word" }, "yes", root)).toBe(true);
  expect(validator.isValid({ $ref: "#/$defs/word" }, "no", root)).toBe(false);
});

test("schemas are left as they are", () => {
  const schema = { $defs: { n: { type: "number" } }, ...object({ n: { $ref: "#/$defs/n" } }) } as RJSFSchema;
  const before = JSON.stringify(schema);
  faultsOf(schema, { n: "x" });
  expect(JSON.stringify(schema)).toBe(before);
});
