import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { type DrawerSearch, drawerSearch, textIn } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

/** Which connection stands in the drawer, or the service a new one is for. */
export type ConnectionsSearch = DrawerSearch & { service?: string };

export const connectionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/connections",
  validateSearch: (search: Record<string, unknown>): ConnectionsSearch => ({ ...drawerSearch(search), service: textIn(search.service) }),
  component: lazyRouteComponent(() => import("./connections-page"), "ConnectionsPage"),
});

export const connectionRoutes = [connectionsRoute] as const;
