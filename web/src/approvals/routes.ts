import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { shellRoute } from "@/shell/routes";

/** Which part of the inbox is shown, and which call stands in the drawer. */
export type ApprovalsSearch = { tab?: ApprovalTab; id?: string };
export type ApprovalTab = "mine" | "group" | "decided" | "in_doubt";

const tabs: readonly unknown[] = ["group", "decided", "in_doubt"];

export const approvalsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/approvals",
  validateSearch: (search: Record<string, unknown>): ApprovalsSearch => ({
    tab: tabs.includes(search.tab) ? (search.tab as ApprovalTab) : undefined,
    id: typeof search.id === "string" && search.id !== "" ? search.id : undefined,
  }),
  component: lazyRouteComponent(() => import("./approvals-page"), "ApprovalsPage"),
});

export const approvalRoutes = [approvalsRoute] as const;
