import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { shellRoute } from "@/shell/routes";

/** Which grant stands in the drawer. */
export type GrantsSearch = { id?: string };

export const grantsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/grants",
  validateSearch: (search: Record<string, unknown>): GrantsSearch => ({
    id: typeof search.id === "string" && search.id !== "" ? search.id : undefined,
  }),
  component: lazyRouteComponent(() => import("./grants-page"), "GrantsPage"),
});

export const grantRoutes = [grantsRoute] as const;
