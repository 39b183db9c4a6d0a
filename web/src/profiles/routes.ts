import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { type DrawerSearch, drawerSearch } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

export const profilesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/profiles",
  validateSearch: (search: Record<string, unknown>): DrawerSearch => drawerSearch(search),
  component: lazyRouteComponent(() => import("./profiles-page"), "ProfilesPage"),
});

export const profileRoutes = [profilesRoute] as const;
