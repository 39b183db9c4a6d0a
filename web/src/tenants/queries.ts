import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type OwnTenant = Schemas["OwnTenantView"];
export type Tenant = Schemas["TenantView"];
export type TenantLink = Schemas["TenantLinkView"];

/** The tenants of whoever is signed in. */
export const ownTenantsQuery = queryOptions({
  queryKey: ["tenants", "own"],
  queryFn: async () => (await unwrap(api.GET("/api/v1/me/tenants"))).tenants,
  staleTime: 60_000,
});

/** All tenants of this server, for those who run it. */
export const tenantsQuery = pagesQuery(["tenants", "list"], (cursor) =>
  unwrap(api.GET("/api/v1/tenants", { params: { query: { limit: 200, cursor } } })),
);

/** One of them. */
export const tenantQuery = (id: string) =>
  queryOptions({
    queryKey: ["tenants", "one", id],
    queryFn: () => unwrap(api.GET("/api/v1/tenants/{id}", { params: { path: { id } } })),
  });

/** Which users of this tenant are linked with users of others. */
export const tenantLinksQuery = pagesQuery(["tenants", "links"], (cursor) =>
  unwrap(api.GET("/api/v1/tenant-links", { params: { query: { limit: 200, cursor } } })),
);
