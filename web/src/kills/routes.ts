import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { flagIn, textIn } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

/** What a link asks to stop: the form opens with it, and nothing happens before someone presses the button. */
export type KillsSearch = { add?: true; kind?: string; target?: string };

export const killsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/kills",
  validateSearch: (search: Record<string, unknown>): KillsSearch => ({
    add: flagIn(search.add),
    kind: textIn(search.kind),
    target: textIn(search.target),
  }),
  component: lazyRouteComponent(() => import("./kills-page"), "KillsPage"),
});

export const killRoutes = [killsRoute] as const;
