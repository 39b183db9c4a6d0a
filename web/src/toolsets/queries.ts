import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type Toolset = Schemas["ToolsetView"];

/** The toolsets, in pages. */
export const toolsetsQuery = pagesQuery(["toolsets", "list"], (cursor) =>
  unwrap(api.GET("/api/v1/toolsets", { params: { query: { limit: 200, cursor } } })),
);

/** One toolset, with the ids of what it holds now. */
export const toolsetQuery = (name: string) =>
  queryOptions({
    queryKey: ["toolsets", "one", name],
    queryFn: () => unwrap(api.GET("/api/v1/toolsets/{name}", { params: { path: { name } } })),
  });
