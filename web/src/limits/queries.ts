import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type Limit = Schemas["LimitView"];

/** The limits, in pages. */
export const limitsQuery = pagesQuery(["limits", "list"], (cursor) =>
  unwrap(api.GET("/api/v1/limits", { params: { query: { limit: 200, cursor } } })),
);

/** One limit. */
export const limitQuery = (name: string) =>
  queryOptions({
    queryKey: ["limits", "one", name],
    queryFn: () => unwrap(api.GET("/api/v1/limits/{name}", { params: { path: { name } } })),
  });
