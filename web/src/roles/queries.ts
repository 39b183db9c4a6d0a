import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type Role = Schemas["RoleView"];

/** The roles, those that every tenant has among them. */
export const rolesQuery = pagesQuery(["roles", "list"], (cursor) =>
  unwrap(api.GET("/api/v1/roles", { params: { query: { limit: 200, cursor } } })),
);

/** One role. */
export const roleQuery = (name: string) =>
  queryOptions({
    queryKey: ["roles", "one", name],
    queryFn: () => unwrap(api.GET("/api/v1/roles/{name}", { params: { path: { name } } })),
  });
