import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { type DrawerSearch, drawerSearch } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

export const rolesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/roles",
  validateSearch: (search: Record<string, unknown>): DrawerSearch => drawerSearch(search),
  component: lazyRouteComponent(() => import("./roles-page"), "RolesPage"),
});

export const roleRoutes = [rolesRoute] as const;
