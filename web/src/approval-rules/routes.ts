import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { type DrawerSearch, drawerSearch } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

export const approvalRulesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/approval-rules",
  validateSearch: (search: Record<string, unknown>): DrawerSearch => drawerSearch(search),
  component: lazyRouteComponent(() => import("./approval-rules-page"), "ApprovalRulesPage"),
});

export const approvalRuleRoutes = [approvalRulesRoute] as const;
