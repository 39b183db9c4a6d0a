import { type OutputUnit, Validator } from "@cfworker/json-schema";
import {
  type CustomValidator,
  ErrorSchemaBuilder,
  type ErrorTransformer,
  type RJSFSchema,
  type RJSFValidationError,
  type UiSchema,
  type ValidationData,
  type ValidatorType,
} from "@rjsf/utils";

import { lookUp } from "./prepare";

// The usual validator builds code from the schema, which our Content-Security-Policy forbids. This one walks it. The
// server validates again and has the last word.

type Node = Record<string, unknown>;

const cache = new WeakMap<object, Validator>();

function validatorOf(schema: RJSFSchema): Validator {
  const known = cache.get(schema);
  if (known) return known;
  // It leaves marks on the schema it is given.
  const made = new Validator(structuredClone(schema) as never, "2020-12", false);
  cache.set(schema, made);
  return made;
}

/** Errors of schemas around other schemas: what they hold says it better. */
const CONTAINERS = new Set([
  "properties", "items", "prefixItems", "if", "then", "else", "allOf", "anyOf", "oneOf", "$ref", "$dynamicRef",
  "dependentSchemas", "dependencies", "contains", "patternProperties", "not", "false",
]);

function run(schema: RJSFSchema, data: unknown): OutputUnit[] {
  // What is not filled in is not there.
  const instance: unknown = data === undefined ? undefined : JSON.parse(JSON.stringify(data));
  if (instance === undefined) return [];
  try {
    return validatorOf(schema).validate(instance).errors;
  } catch {
    // A schema that only the server understands.
    return [];
  }
}

/** A field's path and what is wrong with it, in plain words. */
export type Fault = { path: string[]; message: string };

/** What is wrong with the data, once per field. */
export function faultsOf(schema: RJSFSchema, data: unknown): Fault[] {
  const all = run(schema, data);
  const leaves = all.filter((unit) => !CONTAINERS.has(unit.keyword) && unit.keyword !== "additionalProperties" || isOwn(unit, all));
  const faults: Fault[] = [];
  for (const unit of leaves.length > 0 ? leaves : all.filter((unit) => ["oneOf", "anyOf", "not", "contains"].includes(unit.keyword))) {
    const path = pathOf(unit.instanceLocation);
    if (unit.keyword === "required") {
      const name = /"((?:[^"\\]|\\.)*)"\.?$/.exec(unit.error)?.[1];
      faults.push({ path: name === undefined ? path : [...path, name], message: "Fill this in." });
    } else faults.push({ path, message: wordsFor(unit, schema) });
  }
  const seen = new Set<string>();
  return faults.filter((fault) => {
    const key = JSON.stringify(fault.path);
    return seen.has(key) ? false : seen.add(key);
  });
}

/** A property that may not be there is an error of its own; one that holds a mistake is told of by the mistake. */
function isOwn(unit: OutputUnit, all: OutputUnit[]): boolean {
  if (unit.keyword !== "additionalProperties") return false;
  return !all.some((other) => other !== unit && other.keywordLocation.startsWith(`${unit.keywordLocation}/`) && other.keyword !== "false");
}

function pathOf(location: string): string[] {
  return location.replace(/^#\/?/, "").split("/").filter((part) => part !== "").map((part) =>
    decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"),
  );
}

function valueOf(unit: OutputUnit, schema: unknown): unknown {
  let node: unknown = schema;
  for (const part of pathOf(unit.keywordLocation)) {
    const next: unknown = (node as Node | undefined)?.[part];
    node = part === "$ref" && typeof next === "string" ? lookUp(next, schema) : next;
  }
  return node;
}

const formats: Record<string, string> = {
  email: "an email address",
  uri: "an address such as https://example.com",
  date: "a date",
  "date-time": "a date and time",
  time: "a time",
  uuid: "a UUID",
};

function wordsFor(unit: OutputUnit, schema: unknown): string {
  const value = valueOf(unit, schema);
  switch (unit.keyword) {
    case "minimum":
      return `At least ${String(value)}.`;
    case "maximum":
      return `At most ${String(value)}.`;
    case "exclusiveMinimum":
      return `More than ${String(value)}.`;
    case "exclusiveMaximum":
      return `Less than ${String(value)}.`;
    case "multipleOf":
      return `A multiple of ${String(value)}.`;
    case "minLength":
      return value === 1 ? "Fill this in." : `At least ${String(value)} characters.`;
    case "maxLength":
      return `At most ${String(value)} characters.`;
    case "minItems":
      return value === 1 ? "Add at least one." : `Add at least ${String(value)}.`;
    case "maxItems":
      return `At most ${String(value)}.`;
    case "uniqueItems":
      return "Each only once.";
    case "enum":
    case "const":
      return "Choose one of the values.";
    case "pattern":
      return "This does not have the right form.";
    case "format":
      return `Write ${formats[String(value)] ?? `it as ${String(value)}`}.`;
    case "type":
      return value === "integer" ? "A whole number." : value === "number" ? "A number." : `This must be ${typeWords(value)}.`;
    case "additionalProperties":
    case "unevaluatedProperties":
      return "There is a field here that the tool does not know.";
    case "oneOf":
    case "anyOf":
      return "This fits none of the choices.";
    default:
      return "This does not fit.";
  }
}

function typeWords(type: unknown): string {
  const words: Record<string, string> = { string: "text", object: "a group of fields", array: "a list", boolean: "yes or no", null: "empty" };
  return (Array.isArray(type) ? type : [type]).map((one) => words[String(one)] ?? String(one)).join(" or ");
}

/** The form library's validator, over one that needs no `eval`. */
export const validator: ValidatorType = {
  validateFormData(
    data: unknown,
    schema: RJSFSchema,
    _custom?: CustomValidator,
    transform?: ErrorTransformer,
    uiSchema?: UiSchema,
  ): ValidationData<unknown> {
    const faults = faultsOf(schema, data ?? {});
    let errors: RJSFValidationError[] = faults.map(({ path, message }) => ({
      property: path.length === 0 ? "." : `.${path.join(".")}`,
      message,
      params: { path },
      stack: message,
    }));
    if (transform) errors = transform(errors, uiSchema);
    const builder = new ErrorSchemaBuilder();
    for (const fault of faults) builder.addErrors(fault.message, fault.path.length === 0 ? undefined : fault.path);
    return { errors, errorSchema: builder.ErrorSchema };
  },
  isValid(schema: RJSFSchema, data: unknown, root: RJSFSchema): boolean {
    return run(within(schema, root), data).length === 0;
  },
  rawValidation<Result>(schema: RJSFSchema, data?: unknown) {
    return { errors: run(schema, data) as Result[] };
  },
};

const rooted = new WeakMap<object, WeakMap<object, RJSFSchema>>();

/** A part of a schema with the definitions that it may refer to. */
function within(schema: RJSFSchema, root: RJSFSchema): RJSFSchema {
  if (!root || (root.$defs === undefined && root.definitions === undefined) || schema === root) return schema;
  const parts = rooted.get(root) ?? new WeakMap<object, RJSFSchema>();
  rooted.set(root, parts);
  const known = parts.get(schema);
  if (known) return known;
  const whole = { ...schema, $defs: root.$defs, definitions: root.definitions } as RJSFSchema;
  if (whole.$defs === undefined) delete whole.$defs;
  if (whole.definitions === undefined) delete whole.definitions;
  parts.set(schema, whole);
  return whole;
}
