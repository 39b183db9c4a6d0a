import { expect, test } from "vitest";

import { compared, editedFields, readable } from "./changes";
import type { Approval } from "./queries";
import { firstScope, rememberOf, scopeInWords } from "./remember";
import { formatLeft } from "./time-left";
import { titleOf } from "./words";

const call = (more: Record<string, unknown> = {}): Approval =>
  ({
    id: "inv_1",
    tool_id: "crm__pay",
    actor: "agent:ledger",
    subject: "user:ada",
    input: { amount: 5, to: { name: "x", bank: 1 } },
    review: { digest: "d", needed: 1, votes: [], remarks: [], deadline: "2030-01-01T00:00:00Z", ...more },
  }) as unknown as Approval;

test("an edit shows the fields that differ, whatever the order of keys", () => {
  expect(editedFields(call())).toEqual([]);
  expect(editedFields(call({ input: { to: { bank: 1, name: "x" }, amount: 5 } }))).toEqual([]);
  expect(editedFields(call({ input: { amount: 6, to: { name: "x", bank: 1 }, urgent: false } }))).toEqual([
    { field: "amount", before: 5, after: 6 },
    { field: "urgent", before: undefined, after: false },
  ]);
  expect(compared({ a: [1, 2] }, { a: [2, 1] })).toHaveLength(1);
  expect(compared({ a: 1 }, {})).toEqual([{ field: "a", before: 1, after: undefined }]);
});

test("changes are readable: nothing hidden, nothing endless, and what is gone stays gone", () => {
  const [change] = readable([{ field: "a\u202Eb", before: undefined, after: "x".repeat(5000) }]);
  expect(change!.field).toBe("a‹U+202E›b");
  expect(change!.before).toBeUndefined();
  expect(String(change!.after)).toMatch(/^x{400}… \(5,000 characters\)$/);
});

test("what is remembered starts narrow and is what the sentence says", () => {
  const approval = call();
  const scope = firstScope(approval);
  expect(rememberOf(approval, scope)).toEqual({ arguments: "same", session_only: false, expires_in_seconds: 86_400 });
  const within = { ...scope, arguments: "within" as const, fixed: ["amount"], sessionOnly: true };
  expect(rememberOf(approval, within)).toEqual({
    arguments: "within",
    session_only: true,
    expires_in_seconds: 86_400,
    schema: { type: "object", required: ["amount"], properties: { amount: { const: 5 } } },
  });
  expect(scopeInWords(approval, within)).toBe(
    "For 1 day, crm__pay runs without asking when ledger for ada calls it in this session where amount is 5.",
  );
  expect(scopeInWords(approval, { ...scope, arguments: "any" })).toContain("with any input");
});

test("what is remembered of an edited call is the edited input", () => {
  const approval = call({ input: { amount: 9 } });
  const scope = { ...firstScope(approval), arguments: "within" as const };
  expect(rememberOf(approval, scope).schema).toMatchObject({ properties: { amount: { const: 9 } } });
});

test("time left is told in the unit that matters", () => {
  const left: [number, string][] = [
    [-5, "time is up"],
    [1, "1 s left"],
    [59_000, "59 s left"],
    [61_000, "2 min left"],
    [3 * 3_600_000, "3 h left"],
    [3 * 86_400_000, "3 days left"],
  ];
  for (const [ms, words] of left) expect(formatLeft(ms)).toBe(words);
});

test("a call is called what the tool foresees, or what the tool is called", () => {
  expect(titleOf(call({ preview: { summary: "moves 5 to x." } }), "Pay")).toBe("Moves 5 to x");
  expect(titleOf(call({ preview: "nonsense" }), "Pay")).toBe("Pay");
  expect(titleOf(call(), undefined)).toBe("crm__pay");
});
