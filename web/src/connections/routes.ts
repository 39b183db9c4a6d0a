import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { type DrawerSearch, drawerSearch } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

export const connectionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/connections",
  validateSearch: (search: Record<string, unknown>): DrawerSearch => drawerSearch(search),
  component: lazyRouteComponent(() => import("./connections-page"), "ConnectionsPage"),
});

export const connectionRoutes = [connectionsRoute] as const;
