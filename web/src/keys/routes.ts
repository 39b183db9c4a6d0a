import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { type DrawerSearch, drawerSearch, textIn } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

/** Whose keys, and which of them stands in the drawer. */
export type KeysSearch = DrawerSearch & { principal?: string };

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/keys",
  validateSearch: (search: Record<string, unknown>): KeysSearch => ({ ...drawerSearch(search), principal: textIn(search.principal) }),
  component: lazyRouteComponent(() => import("./keys-page"), "KeysPage"),
});

export const keyRoutes = [keysRoute] as const;
