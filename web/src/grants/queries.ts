import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { counted } from "@/lib/format";

export type Grant = Schemas["GrantView"];

/** What people let run from now on: my own, or all for those who manage approvals. */
export const grantsQuery = infiniteQueryOptions({
  queryKey: ["grants", "list"],
  queryFn: ({ pageParam }) => unwrap(api.GET("/api/v1/grants", { params: { query: { limit: 100, cursor: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

/** One grant, with how often it was used. */
export const grantQuery = (name: string) =>
  queryOptions({
    queryKey: ["grants", "one", name],
    queryFn: () => unwrap(api.GET("/api/v1/grants/{name}", { params: { path: { name } } })),
  });

/** How often a grant was used; beyond a thousand times nobody counts. */
export function timesUsed(grant: Grant): string {
  const used = grant.used ?? 0;
  return used === 0 ? "Never" : used >= 1000 ? "1,000 times or more" : counted(used, "time");
}

/** Which arguments a grant covers, in words where its bounds are of a kind that pages make. */
export function coverage(grant: Grant): string {
  const schema = grant.arguments as { const?: unknown; properties?: Record<string, { const?: unknown }> } | null | undefined;
  if (!schema) return "Any input";
  if (schema.const !== undefined) return "One input";
  const fixed = Object.entries(schema.properties ?? {}).filter(([, bounds]) => "const" in bounds);
  return fixed.length > 0 ? fixed.map(([name, bounds]) => `${name} = ${JSON.stringify(bounds.const)}`).join(", ") : "Some inputs";
}
