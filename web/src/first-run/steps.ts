import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { decidedQuery } from "@/approvals/queries";
import type { UsageRow } from "@/tools/stats";

/** The tool that a first approval is tried with: it changes nothing, whatever is decided. */
export const TRIED = "core__get_current_time";
/** The tool that a first run is tried with. */
export const CALCULATOR = "core__calculate_roi";

/** Whether a tool of the house, other than the clock, ended well once. */
export function ranSomething(usage: readonly UsageRow[]): boolean {
  return usage.some((row) => row.tool.startsWith("core__") && row.tool !== TRIED && row.status === "completed");
}

/** Whether an MCP server is written down. */
export const connectedQuery = queryOptions({
  queryKey: ["upstreams", "any"],
  queryFn: async () => (await unwrap(api.GET("/api/v1/upstreams", { params: { query: { limit: 1 } } }))).upstreams.length > 0,
  refetchOnMount: "always",
});

/** Whether I decided on anything. */
export const decidedSomethingQuery = infiniteQueryOptions({ ...decidedQuery, refetchOnMount: "always" as const });

/**
 * Makes a call that waits for me: asks for a person's word on one tool, calls it, and takes the wish back at once. The
 * call goes on waiting; later calls of the tool run as they did before.
 */
export async function makeCallThatWaits(): Promise<string> {
  const params = { path: { tool: TRIED } };
  const before = await unwrap(api.GET("/api/v1/registry/{tool}", { params }));
  const ask: Schemas["PutToolSettingRequest"] = { ...before.setting, approval: "always_ask" };
  await unwrap(api.PUT("/api/v1/registry/{tool}", { params, body: ask }));
  try {
    const { data, error, response } = await api.POST("/api/v1/tools/{id}/invoke", {
      params: { path: { id: TRIED }, query: { wait: 0 } },
      body: { input: {} },
    });
    const call = (data ?? error) as Partial<Schemas["CallView"]> | undefined;
    if (!call?.call_id || call.status !== "pending") throw new Error(`the call did not wait (${call?.status ?? response.status})`);
    return call.call_id;
  } finally {
    if (before.setting) await unwrap(api.PUT("/api/v1/registry/{tool}", { params, body: before.setting }));
    else await unwrap(api.DELETE("/api/v1/registry/{tool}", { params }));
  }
}
