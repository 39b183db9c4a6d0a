import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { type DrawerSearch, drawerSearch } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

/** Who was let in, or the applications that were named here. */
export type ApplicationsSearch = DrawerSearch & { tab?: "all" | "named" };

export const applicationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/applications",
  validateSearch: (search: Record<string, unknown>): ApplicationsSearch => ({
    ...drawerSearch(search),
    tab: search.tab === "all" || search.tab === "named" ? search.tab : undefined,
  }),
  component: lazyRouteComponent(() => import("./applications-page"), "ApplicationsPage"),
});

export const applicationRoutes = [applicationsRoute] as const;
