import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { type DrawerSearch, drawerSearch } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

/** Users, agents or services, and which of them stands in the drawer. */
export type PrincipalsSearch = DrawerSearch & { kind?: "agent" | "service" };

export const principalsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/principals",
  validateSearch: (search: Record<string, unknown>): PrincipalsSearch => ({
    ...drawerSearch(search),
    kind: search.kind === "agent" || search.kind === "service" ? search.kind : undefined,
  }),
  component: lazyRouteComponent(() => import("./principals-page"), "PrincipalsPage"),
});

export const principalRoutes = [principalsRoute] as const;
