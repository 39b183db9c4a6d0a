import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { type DrawerSearch, drawerSearch } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

export const limitsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/limits",
  validateSearch: (search: Record<string, unknown>): DrawerSearch => drawerSearch(search),
  component: lazyRouteComponent(() => import("./limits-page"), "LimitsPage"),
});

export const limitRoutes = [limitsRoute] as const;
