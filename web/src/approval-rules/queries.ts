import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

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
