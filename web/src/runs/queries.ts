import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";

export type Run = Schemas["InvocationView"];
export type RunEvent = Schemas["EventView"];

/** What a list of runs is narrowed by. */
export type RunFilter = { tool?: string; status?: string; actor?: string; text?: string; since?: string; until?: string };

/** How many runs come at once. */
export const PAGE = 100;

/** The latest runs, for the palette. */
export const recentRunsQuery = queryOptions({
  queryKey: ["runs", "recent"],
  queryFn: async () =>
    (await unwrap(api.GET("/api/v1/invocations", { params: { query: { limit: 30 } } }))).invocations,
});

/** Runs, newest first, in pages that never overlap. */
export const runsQuery = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ["runs", "list", filter],
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET("/api/v1/invocations", {
          params: { query: { ...filter, limit: PAGE, cursor: pageParam } as never },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

/** One run with everything recorded of it. */
export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id],
    queryFn: () => unwrap(api.GET("/api/v1/invocations/{id}", { params: { path: { id } } })),
  });

const ended = new Set(["completed", "failed", "rejected", "cancelled", "expired", "in_doubt"]);

/** Whether nothing more happens to it by itself. */
export function isOver(status: string): boolean {
  return ended.has(status);
}
