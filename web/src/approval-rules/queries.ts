import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";
import { counted } from "@/lib/format";

export type ApprovalRule = Schemas["ApprovalRuleView"];

/** The approval rules, in pages. */
export const approvalRulesQuery = pagesQuery(["approval-rules", "list"], (cursor) =>
  unwrap(api.GET("/api/v1/approval-rules", { params: { query: { limit: 200, cursor } } })),
);

/** One approval rule. */
export const approvalRuleQuery = (name: string) =>
  queryOptions({
    queryKey: ["approval-rules", "one", name],
    queryFn: () => unwrap(api.GET("/api/v1/approval-rules/{name}", { params: { path: { name } } })),
  });

/** A span of time in its largest whole unit; a dash for none. */
export function spanWords(seconds: number | null | undefined): string {
  if (!seconds) return "–";
  if (seconds % 86_400 === 0) return counted(seconds / 86_400, "day");
  if (seconds % 3600 === 0) return counted(seconds / 3600, "hour");
  return seconds % 60 === 0 ? counted(seconds / 60, "minute") : counted(seconds, "second");
}
