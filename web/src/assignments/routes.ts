import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { flagIn, textIn } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

/** Whose tools, and which assignment stands in the drawer. */
export type AssignmentsSearch = { agent?: string; id?: string; add?: true };

export const assignmentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/assignments",
  validateSearch: (search: Record<string, unknown>): AssignmentsSearch => ({
    agent: textIn(search.agent),
    id: textIn(search.id),
    add: flagIn(search.add),
  }),
  component: lazyRouteComponent(() => import("./assignments-page"), "AssignmentsPage"),
});

export const assignmentRoutes = [assignmentsRoute] as const;
