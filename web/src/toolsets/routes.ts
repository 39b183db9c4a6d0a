import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { type DrawerSearch, drawerSearch } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

export const toolsetsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/toolsets",
  validateSearch: (search: Record<string, unknown>): DrawerSearch => drawerSearch(search),
  component: lazyRouteComponent(() => import("./toolsets-page"), "ToolsetsPage"),
});

export const toolsetRoutes = [toolsetsRoute] as const;
