import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type Principal = Schemas["PrincipalView"];
export type PrincipalKind = "user" | "agent" | "service";

/** Users, agents or services; all of them without a kind. */
export const principalsQuery = (kind?: PrincipalKind) =>
  pagesQuery(["principals", "list", kind ?? "all"], (cursor) =>
    unwrap(api.GET("/api/v1/principals", { params: { query: { limit: 200, kind, cursor } } })),
  );

/** One of them. */
export const principalQuery = (id: string) =>
  queryOptions({
    queryKey: ["principals", "one", id],
    queryFn: () => unwrap(api.GET("/api/v1/principals/{id}", { params: { path: { id } } })),
  });
