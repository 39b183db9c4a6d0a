import { expect, test } from "vitest";

import { byDay, byTool, type UsageRow } from "./figures";

const row = (tool: string, day: string, status: string, calls: number, more: Partial<UsageRow> = {}): UsageRow => ({
  tool,
  day,
  status,
  calls,
  cost_micros: 0,
  run_ms: 0,
  last_at: `${day}T10:00:00Z`,
  ...more,
});

const rows = [
  row("core__a", "2026-03-02", "completed", 3, { cost_micros: 1_500_000, run_ms: 300 }),
  row("core__a", "2026-03-02", "failed", 1),
  row("core__b", "2026-03-01", "pending", 9),
  row("core__b", "2026-01-01", "completed", 2),
];

test("every day has its place, and days out of sight have none", () => {
  const days = byDay(rows, 3, Date.parse("2026-03-02T12:00:00Z"));
  expect(days.map((day) => day.day)).toEqual(["28 Feb", "1 Mar", "2 Mar"]);
  expect(days[0]).toMatchObject({ good: 0, open: 0, bad: 0 });
  expect(days[1]).toMatchObject({ good: 0, open: 9, bad: 0 });
  expect(days[2]).toEqual({ day: "2 Mar", good: 3, open: 0, bad: 1, cost: 1.5 });
});

test("tools are put together, the most called first", () => {
  const [first, second] = byTool(rows);
  expect(first).toMatchObject({ tool: "core__b", calls: 11, good: 2, ended: 2, lastAt: "2026-03-01T10:00:00Z" });
  expect(second).toMatchObject({ tool: "core__a", calls: 4, good: 3, ended: 4, runMs: 300, cost: 1.5 });
});
