import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { textIn } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

/** Which part is shown; a version in the drawer; the call to explain, so that an answer has an address. */
export type PolicySearch = {
  tab?: "versions" | "explain" | "try";
  version?: number;
  principal?: string;
  subject?: string;
  tool?: string;
};

export const policyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/policy",
  validateSearch: (search: Record<string, unknown>): PolicySearch => ({
    tab: search.tab === "versions" || search.tab === "explain" || search.tab === "try" ? search.tab : undefined,
    version: typeof search.version === "number" && Number.isInteger(search.version) && search.version >= 0 ? search.version : undefined,
    principal: textIn(search.principal),
    subject: textIn(search.subject),
    tool: textIn(search.tool),
  }),
  component: lazyRouteComponent(() => import("./policy-page"), "PolicyPage"),
});

export const policyRoutes = [policyRoute] as const;
