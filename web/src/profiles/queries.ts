import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type Profile = Schemas["ProfileView"];

/** The profiles, in pages. */
export const profilesQuery = pagesQuery(["profiles", "list"], (cursor) =>
  unwrap(api.GET("/api/v1/profiles", { params: { query: { limit: 200, cursor } } })),
);

/** One profile. */
export const profileQuery = (name: string) =>
  queryOptions({
    queryKey: ["profiles", "one", name],
    queryFn: () => unwrap(api.GET("/api/v1/profiles/{name}", { params: { path: { name } } })),
  });
