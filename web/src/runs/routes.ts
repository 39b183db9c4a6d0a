import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { shellRoute } from "@/shell/routes";

/** How the list of runs is narrowed. */
export type RunsSearch = { tool?: string; status?: string; actor?: string; text?: string; within?: "hour" | "day" | "week" };

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

export const runsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/runs",
  validateSearch: (search: Record<string, unknown>): RunsSearch => ({
    tool: text(search.tool),
    status: text(search.status),
    actor: text(search.actor),
    text: text(search.text),
    within: ["hour", "day", "week"].includes(search.within as string) ? (search.within as "hour") : undefined,
  }),
  component: lazyRouteComponent(() => import("./runs-page"), "RunsPage"),
});

export const runRoutes = [runsRoute] as const;
