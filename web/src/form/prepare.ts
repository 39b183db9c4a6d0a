import type { RJSFSchema } from "@rjsf/utils";

import { humanWord } from "@/lib/format";
import { visible } from "@/lib/visible";

type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);
const nodes = (value: unknown): [string, Node][] =>
  isNode(value) ? Object.entries(value).filter((entry): entry is [string, Node] => isNode(entry[1])) : [];

/**
 * The schema as the form library understands it: titles for people, conditions in the words it knows, `null` left to
 * "not filled in", and no defaults inside parts that are not there unless someone adds them.
 */
export function prepareSchema(schema: unknown): RJSFSchema {
  const root = structuredClone(isNode(schema) ? schema : {});
  delete root.$schema;
  delete root.title;
  prepare(root, root, 0);
  return root as RJSFSchema;
}

/** Deeper than any form people fill in; a schema that refers to itself ends here too. */
const DEEPEST = 24;

function prepare(node: Node, root: Node, depth: number): void {
  if (depth > DEEPEST) return;
  rewriteDependents(node);
  delete node.examples;
  // A schema's words are its author's.
  for (const key of ["title", "description"]) if (typeof node[key] === "string") node[key] = visible(node[key]);
  const required = Array.isArray(node.required) ? (node.required as unknown[]) : [];
  for (const [name, child] of nodes(node.properties)) {
    const optional = !required.includes(name);
    if (optional) leaveOutNull(child);
    child.title ??= humanWord(name);
    // A choice of nothing but words is a list of values already.
    if (optional && isObjectSchema(child, root) && child.default === undefined) {
      if (typeof child.$ref === "string") inline(child, root);
      withoutDefaults(child, 0);
    }
    prepare(child, root, depth + 1);
  }
  if (isNode(node.items)) prepare(node.items, root, depth + 1);
  for (const key of ["oneOf", "anyOf", "allOf", "prefixItems"]) {
    const options = node[key];
    if (Array.isArray(options)) for (const option of options) if (isNode(option)) prepare(option, root, depth + 1);
  }
  for (const key of ["if", "then", "else"]) if (isNode(node[key])) prepare(node[key], root, depth + 1);
  for (const key of ["$defs", "definitions", "dependencies"])
    for (const [, child] of nodes(node[key])) prepare(child, root, depth + 1);
}

/** The form library knows `dependencies` alone, the older word for both. */
function rewriteDependents(node: Node): void {
  for (const key of ["dependentSchemas", "dependentRequired"]) {
    if (!isNode(node[key])) continue;
    const all = (isNode(node.dependencies) ? node.dependencies : {}) as Node;
    for (const [name, dependent] of Object.entries(node[key])) {
      const before = all[name];
      if (Array.isArray(dependent) && isNode(before)) before.required = dependent;
      else if (isNode(dependent) && Array.isArray(before)) all[name] = { ...dependent, required: before };
      else all[name] = dependent;
    }
    node.dependencies = all;
    delete node[key];
  }
}

/** What may be left out need not be `null` too. */
function leaveOutNull(node: Node): void {
  if (Array.isArray(node.type) && node.type.includes("null")) {
    const rest = node.type.filter((type) => type !== "null");
    node.type = rest.length === 1 ? rest[0] : rest;
  }
  if (Array.isArray(node.enum) && node.enum.includes(null)) node.enum = node.enum.filter((value) => value !== null);
  for (const key of ["anyOf", "oneOf"]) {
    const options = node[key];
    if (!Array.isArray(options)) continue;
    const rest = options.filter((option) => !(isNode(option) && option.type === "null"));
    if (rest.length === options.length) continue;
    if (rest.length === 1 && isNode(rest[0])) {
      delete node[key];
      // What the property says of itself stands over what its type says.
      for (const [name, value] of Object.entries(rest[0])) node[name] ??= value;
    } else node[key] = rest;
  }
  if (node.default === null) delete node.default;
}

function isObjectSchema(node: Node, root: Node): boolean {
  const target = typeof node.$ref === "string" ? lookUp(node.$ref, root) : node;
  return target?.type === "object" || isNode(target?.properties);
}

function inline(node: Node, root: Node): void {
  const target = lookUp(node.$ref as string, root);
  if (!target || JSON.stringify(target).includes(`"${node.$ref as string}"`)) return;
  delete node.$ref;
  for (const [name, value] of Object.entries(structuredClone(target))) node[name] ??= value;
}

/** The part of a schema that a local reference names. */
export function lookUp(reference: string, root: unknown): Node | undefined {
  if (!reference.startsWith("#")) return undefined;
  let found: unknown = root;
  for (const part of reference.slice(1).split("/").filter(Boolean)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = (found as Node | undefined)?.[name];
  }
  return isNode(found) ? found : undefined;
}

/** Defaults become hints: a part that nobody added must not be sent for its defaults' sake. */
function withoutDefaults(node: Node, depth: number): void {
  if (depth > DEEPEST) return;
  for (const [, child] of nodes(node.properties)) {
    if (child.default !== undefined) {
      child["x-default"] = child.default;
      delete child.default;
    }
    withoutDefaults(child, depth + 1);
  }
}

/**
 * What a form begins with: the defaults the schema names, and nothing else. Parts that may be left out are left out, so
 * that an untouched form sends no empty groups and lists.
 */
export function initialOf(schema: unknown, depth = 0): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  if (!isNode(schema) || depth > DEEPEST) return found;
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
  for (const [name, child] of nodes(schema.properties)) {
    if (child.default !== undefined && child.default !== null) found[name] = structuredClone(child.default);
    else if (required.includes(name) && isNode(child.properties)) {
      const inner = initialOf(child, depth + 1);
      if (Object.keys(inner).length > 0) found[name] = inner;
    }
  }
  return found;
}

/** An example to begin with, when the schema brings one. */
export function exampleOf(schema: unknown): unknown {
  if (!isNode(schema)) return undefined;
  return Array.isArray(schema.examples) ? schema.examples[0] : undefined;
}

/**
 * The order of an object's fields: what a condition brings stands right below the field that brings it, not at the end.
 */
export function orderOf(node: unknown): string[] | undefined {
  if (!isNode(node)) return undefined;
  const order = Object.keys((node.properties as Node | undefined) ?? {});
  let changed = false;
  const put = (after: string, names: string[]) => {
    const fresh = names.filter((name) => !order.includes(name));
    const at = order.indexOf(after);
    if (at < 0 || fresh.length === 0) return;
    order.splice(at + 1, 0, ...fresh);
    changed = true;
  };
  const propertiesOf = (part: unknown): string[] => {
    if (!isNode(part)) return [];
    const own = Object.keys((part.properties as Node | undefined) ?? {});
    const options = [part.oneOf, part.anyOf].flatMap((list) => (Array.isArray(list) ? list.flatMap(propertiesOf) : []));
    return [...own, ...options];
  };
  const conditions = [node, ...(Array.isArray(node.allOf) ? node.allOf : [])].filter(isNode);
  for (const part of conditions) {
    if (!isNode(part.if)) continue;
    const last = propertiesOf(part.if).at(-1);
    if (last) put(last, [...propertiesOf(part.then), ...propertiesOf(part.else)]);
  }
  for (const [name, dependent] of Object.entries((node.dependencies as Node | undefined) ?? {})) put(name, propertiesOf(dependent));
  return changed ? [...order, "*"] : undefined;
}
