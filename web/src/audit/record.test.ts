import { expect, test } from "vitest";

import { aboutOf, type AuditEvent, eventKey, filterOf, momentOf, principalIn, queryOf, withNews } from "./record";

const event = (seq: number, more: Partial<AuditEvent> = {}): AuditEvent => ({
  session_id: "ses_1",
  seq,
  call_id: "inv_1",
  type: "tool.completed",
  actor: "user:ada",
  at: "2026-01-31T12:00:00.000001Z",
  at_micros: 1_769_860_800_000_001,
  prev_hash: "",
  hash: "",
  ...more,
});

test("an event says what it is about", () => {
  expect(aboutOf(event(1, { type: "admin.changed", data: { action: "role.put", name: "support" } }))).toBe("role.put support");
  expect(aboutOf(event(2, { type: "tool.started", data: { call: { tool: "core__x" } } }))).toBe("core__x");
  expect(aboutOf(event(3, { tool: "core__y" }))).toBe("core__y");
  expect(aboutOf(event(4))).toBe("");
});

test("the address is asked for in the words of the API", () => {
  const filter = filterOf({ kind: "decisions", actor: "agent:bot", about: "inv_1" }, undefined);
  const query = queryOf(filter);
  expect(query.getAll("type")).toHaveLength(4);
  expect([query.get("actor"), query.get("invocation"), query.get("session"), query.get("from")]).toEqual(["agent:bot", "inv_1", null, null]);
  expect(filterOf({ about: "ses_1" }, "x")).toMatchObject({ session: "ses_1", invocation: undefined, from: "x" });
  expect(queryOf(filterOf({}, undefined)).toString()).toBe("");
  expect([principalIn("ada"), principalIn("agent:bot"), principalIn("")]).toEqual(["user:ada", "agent:bot", ""]);
});

test("an event is found again by its moment, to the microsecond", () => {
  const key = eventKey(event(7));
  expect(momentOf(key)).toEqual({ from: "2026-01-31T12:00:00.000001Z", to: "2026-01-31T12:00:00.000002Z" });
  for (const odd of ["", "7", "x.7.ses_1", "1.2", "1.2.3", "-1.7.ses_1"]) expect(momentOf(odd)).toBeNull();
});

test("what comes twice is there once", () => {
  const held = [event(2), event(1)];
  expect(withNews(held, event(3)).map((one) => one.seq)).toEqual([3, 2, 1]);
  expect(withNews(held, event(2))).toBe(held);
});
