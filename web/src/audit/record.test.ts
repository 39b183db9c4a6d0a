import { expect, test } from "vitest";

import { aboutOf, type AuditEvent, kindOf, readRecord, toolsOf } from "./record";

const event = (session: string, seq: number, at: number, more: Partial<AuditEvent> = {}): AuditEvent => ({
  session_id: session,
  seq,
  call_id: `inv_${session}`,
  type: "tool.completed",
  actor: "user:ada",
  at: new Date(at).toISOString(),
  at_micros: at * 1000,
  prev_hash: "",
  hash: "",
  ...more,
});

/** The lines in parts of a few bytes, as a network brings them. */
function streamOf(events: AuditEvent[], part = 7): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(events.map((one) => JSON.stringify(one)).join("\n") + "\n");
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + part));
      at += part;
    },
  });
}

test("events of many sessions are put in the order of time, newest first", async () => {
  const found = await readRecord(streamOf([event("a", 1, 10), event("a", 2, 40, { actor: "user:ä" }), event("b", 1, 20), event("b", 2, 20)]));
  expect(found.events.map((one) => `${one.session_id}${one.seq}`)).toEqual(["a2", "b2", "b1", "a1"]);
  expect(found.events[0]!.actor).toBe("user:ä");
  expect(found).toMatchObject({ read: 4, whole: true });
});

test("only the newest are kept of many", async () => {
  const many = Array.from({ length: 50 }, (_, number) => event("s", number + 1, number));
  const found = await readRecord(streamOf(many, 64), 5);
  expect(found.events.map((one) => one.seq)).toEqual([50, 49, 48, 47, 46]);
  expect(found).toMatchObject({ read: 50, whole: true });
});

test("what is too large is not read to its end, and says so", async () => {
  const many = Array.from({ length: 50 }, (_, number) => event("s", number + 1, number));
  const found = await readRecord(streamOf(many, 64), 100, 1000);
  expect(found.whole).toBe(false);
  expect(found.read).toBeLessThan(50);
});

test("an event says what it is about", () => {
  const changed = event("m", 1, 1, { type: "admin.changed", data: { action: "role.put", name: "support" } });
  const began = event("c", 1, 1, { type: "tool.started", data: { call: { tool: "core__x" } } });
  expect([kindOf(changed), aboutOf(changed)]).toEqual(["changes", "role.put support"]);
  expect([kindOf(began), aboutOf(began)]).toEqual(["calls", "core__x"]);
  expect(kindOf(event("d", 2, 2, { type: "tool.approved" }))).toBe("decisions");
  expect(toolsOf([changed, began]).get("inv_c")).toBe("core__x");
  expect(toolsOf([changed]).size).toBe(0);
});
