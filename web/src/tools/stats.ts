import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { isOver } from "@/runs/queries";

export type UsageRow = Schemas["UsageRowView"];

/** How a tool was used in the last 30 days, as far as I may see. */
export type ToolStats = { calls: number; okShare: number | null; lastAt: string; lastStatus: string };

/** Counts by tool, day and status. */
export const usageQuery = (tool?: string) =>
  queryOptions({
    queryKey: ["usage", tool ?? "all"],
    queryFn: async () => (await unwrap(api.GET("/api/v1/usage", { params: { query: { tool } } }))).usage,
    staleTime: 30_000,
  });

/** The counts of each tool put together. What has not ended yet is neither good nor bad. */
export function statsByTool(rows: readonly UsageRow[]): Map<string, ToolStats> {
  const found = new Map<string, ToolStats & { good: number; ended: number }>();
  for (const row of rows) {
    const stats = found.get(row.tool) ?? { calls: 0, good: 0, ended: 0, okShare: null, lastAt: "", lastStatus: "" };
    stats.calls += row.calls;
    if (row.status === "completed") stats.good += row.calls;
    if (isOver(row.status)) stats.ended += row.calls;
    if (row.last_at > stats.lastAt) {
      stats.lastAt = row.last_at;
      stats.lastStatus = row.status;
    }
    stats.okShare = stats.ended > 0 ? stats.good / stats.ended : null;
    found.set(row.tool, stats);
  }
  return found;
}
