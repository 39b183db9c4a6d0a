import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";

export type Upstream = Schemas["UpstreamView"];
export type UpstreamTool = Schemas["UpstreamToolView"];
export type ToolState = "new" | "changed" | "accepted" | "refused" | "gone";

/** The MCP servers, with how they do. */
export const upstreamsQuery = queryOptions({
  queryKey: ["upstreams", "list"],
  queryFn: async () => (await unwrap(api.GET("/api/v1/upstreams", { params: { query: { limit: 200 } } }))).upstreams,
});

/** One MCP server. */
export const upstreamQuery = (name: string) =>
  queryOptions({
    queryKey: ["upstreams", "one", name],
    queryFn: () => unwrap(api.GET("/api/v1/upstreams/{name}", { params: { path: { name } } })),
  });

/** Tools of the servers: those that stand so, or all. */
export const upstreamToolsQuery = (state?: ToolState, upstream?: string) =>
  infiniteQueryOptions({
    queryKey: ["upstreams", "tools", state ?? "all", upstream ?? "all"],
    queryFn: ({ pageParam }) =>
      unwrap(api.GET("/api/v1/upstream-tools", { params: { query: { limit: 200, state, upstream, cursor: pageParam } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

/** One tool, with what a reviewer has to know. */
export const upstreamToolQuery = (id: string) =>
  queryOptions({
    queryKey: ["upstreams", "tool", id],
    queryFn: () => unwrap(api.GET("/api/v1/upstream-tools/{id}", { params: { path: { id } } })),
  });

/** How a server is reached, in one line. */
export function reachedBy(upstream: Upstream): string {
  const transport = upstream.transport;
  return transport.kind === "http" ? transport.url : [transport.command, ...(transport.args ?? [])].join(" ");
}
