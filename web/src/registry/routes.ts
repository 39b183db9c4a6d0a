import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { textIn } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

/** What to look for, which tools to show, and which one stands in the drawer. */
export type RegistrySearch = { id?: string; q?: string; show?: "on" | "off" };

export const registryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/registry",
  validateSearch: (search: Record<string, unknown>): RegistrySearch => ({
    id: textIn(search.id),
    q: textIn(search.q),
    show: search.show === "on" || search.show === "off" ? search.show : undefined,
  }),
  component: lazyRouteComponent(() => import("./registry-page"), "RegistryPage"),
});

export const registryRoutes = [registryRoute] as const;
