import type { Schemas } from "@/api/client";
import { isOver } from "@/runs/queries";

export type UsageRow = Schemas["UsageRowView"];

/** One day of the chart. `cost` in the tenant's unit. */
export type Day = { day: string; good: number; open: number; bad: number; cost: number };
/** The counts of one tool put together. */
export type ToolFigures = { tool: string; calls: number; good: number; ended: number; runMs: number; cost: number; lastAt: string };

const dayWords = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** Each of the last days, those without calls too, oldest first. Days are the server's: UTC. */
export function byDay(rows: readonly UsageRow[], days: number, now: number = Date.now()): Day[] {
  const found = new Map<string, Day>();
  for (let back = days - 1; back >= 0; back -= 1) {
    const date = new Date(now - back * 86_400_000);
    found.set(date.toISOString().slice(0, 10), { day: dayWords.format(date), good: 0, open: 0, bad: 0, cost: 0 });
  }
  for (const row of rows) {
    const day = found.get(row.day);
    if (!day) continue;
    if (row.status === "completed") day.good += row.calls;
    else if (isOver(row.status)) day.bad += row.calls;
    else day.open += row.calls;
    day.cost += row.cost_micros / 1e6;
  }
  return [...found.values()];
}

/** The counts by tool, the most called first. */
export function byTool(rows: readonly UsageRow[]): ToolFigures[] {
  const found = new Map<string, ToolFigures>();
  for (const row of rows) {
    const tool = found.get(row.tool) ?? { tool: row.tool, calls: 0, good: 0, ended: 0, runMs: 0, cost: 0, lastAt: "" };
    tool.calls += row.calls;
    if (row.status === "completed") tool.good += row.calls;
    if (isOver(row.status)) tool.ended += row.calls;
    tool.runMs += row.run_ms;
    tool.cost += row.cost_micros / 1e6;
    if (row.last_at > tool.lastAt) tool.lastAt = row.last_at;
    found.set(row.tool, tool);
  }
  return [...found.values()].sort((a, b) => b.calls - a.calls || a.tool.localeCompare(b.tool));
}
