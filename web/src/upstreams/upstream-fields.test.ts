import { expect, test } from "vitest";

import type { Upstream } from "./queries";
import { draftOf, isWhole, requestOf } from "./upstream-fields";

const known = (more: Partial<Upstream>): Upstream =>
  ({
    name: "notes", title: "Notes", enabled: false, auth: "shared", connect_timeout_ms: 5_000, concurrency: 4, questions: "ask",
    transport: { kind: "http", url: "https://notes.example.com/mcp", headers: { "x-team": "a" } },
    ...more,
  }) as Upstream;

test("a form that nobody touched writes what was there", () => {
  const program = { kind: "stdio", command: "notes", args: ["", " two\nlines ", "-v"], env: { LANG: "C" } } as const;
  for (const upstream of [known({}), known({ transport: { ...program, args: [...program.args] } })]) {
    const { title, transport, enabled, auth, connect_timeout_ms, concurrency, questions } = upstream;
    expect(requestOf(draftOf(upstream), upstream)).toEqual({ title, transport, enabled, auth, connect_timeout_ms, concurrency, questions });
  }
});

test("arguments are the lines, as they are", () => {
  const draft = { ...draftOf(null), kind: "stdio" as const, command: " notes " };
  const args = (text: string) => (requestOf({ ...draft, args: text }, null).transport as { args: string[] }).args;
  expect([args(""), args("a b\n\n  c\n\n")]).toEqual([[], ["a b", "", "  c"]]);
  expect(requestOf(draft, null).transport).toEqual({ kind: "stdio", command: "notes", args: [], env: {} });
});

test("what is missing or out of bounds is not written", () => {
  const draft = { ...draftOf(null), url: "https://notes.example.com/mcp" };
  expect(isWhole(draft)).toBe(true);
  for (const wrong of [{ url: " " }, { kind: "stdio" as const }, { atOnce: "0" }, { atOnce: "257" }, { atOnce: "some" }]) {
    expect(isWhole({ ...draft, ...wrong }), JSON.stringify(wrong)).toBe(false);
  }
  expect(requestOf({ ...draft, atOnce: "" }, null).concurrency).toBe(16);
});
