import { expect, test } from "vitest";

import { snippet } from "./snippets";

test("what is pasted into a shell stays one argument", () => {
  const text = snippet("curl", "https://gate.example", "core__x", { name: "it's $(rm -rf) `x`" });
  expect(text).toContain(`'{"input":{"name":"it'\\''s $(rm -rf) \`x\`"}}'`);
  expect(text).toContain('"Authorization: Bearer $TOOLGATE_KEY"');
});

test("MCP requests are valid JSON", () => {
  expect(JSON.parse(snippet("mcp", "", "core__x", { a: 1 })).params).toEqual({ name: "core__x", arguments: { a: 1 } });
});
