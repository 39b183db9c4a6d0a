import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { shellRoute } from "@/shell/routes";

/** Which list is shown, and which server or tool stands in the drawer; `edit` opens the form of the server. */
export type UpstreamsSearch = { tab?: "review" | "tools"; server?: string; tool?: string; add?: true; edit?: true };

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

export const upstreamsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/upstreams",
  validateSearch: (search: Record<string, unknown>): UpstreamsSearch => ({
    tab: search.tab === "review" || search.tab === "tools" ? search.tab : undefined,
    server: text(search.server),
    tool: text(search.tool),
    add: search.add === true ? true : undefined,
    edit: search.edit === true ? true : undefined,
  }),
  component: lazyRouteComponent(() => import("./upstreams-page"), "UpstreamsPage"),
});

export const upstreamRoutes = [upstreamsRoute] as const;
