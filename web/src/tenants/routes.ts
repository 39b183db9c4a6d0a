import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { type DrawerSearch, drawerSearch } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

export const organisationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/organisations",
  validateSearch: (search: Record<string, unknown>): Pick<DrawerSearch, "add"> => ({ add: drawerSearch(search).add }),
  component: lazyRouteComponent(() => import("./organisations-page"), "OrganisationsPage"),
});

export const tenantsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/tenants",
  validateSearch: (search: Record<string, unknown>): DrawerSearch => drawerSearch(search),
  component: lazyRouteComponent(() => import("./tenants-page"), "TenantsPage"),
});

export const tenantLinksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/tenant-links",
  component: lazyRouteComponent(() => import("./tenant-links-page"), "TenantLinksPage"),
});

export const tenantRoutes = [organisationsRoute, tenantsRoute, tenantLinksRoute] as const;
