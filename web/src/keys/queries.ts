import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type Key = Schemas["KeyView"];

/** Keys, oldest first: one's own, or all for those who manage them. */
export const keysQuery = (principal?: string) =>
  pagesQuery(["keys", "list", principal ?? "all"], (cursor) =>
    unwrap(api.GET("/api/v1/keys", { params: { query: { limit: 200, principal, cursor } } })),
  );

/** One key, without the key itself. */
export const keyQuery = (id: string) =>
  queryOptions({
    queryKey: ["keys", "one", id],
    queryFn: () => unwrap(api.GET("/api/v1/keys/{id}", { params: { path: { id } } })),
  });
