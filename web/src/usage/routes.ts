import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { shellRoute } from "@/shell/routes";

/** How far back to look. */
export type UsageSearch = { days?: 7 | 90 };

export const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/usage",
  validateSearch: (search: Record<string, unknown>): UsageSearch => ({ days: search.days === 7 || search.days === 90 ? search.days : undefined }),
  component: lazyRouteComponent(() => import("./usage-page"), "UsagePage"),
});

export const usageRoutes = [usageRoute] as const;
