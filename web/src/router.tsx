import { createRouter } from "@tanstack/react-router";

import { applicationRoutes } from "@/applications/routes";
import { approvalRuleRoutes } from "@/approval-rules/routes";
import { approvalRoutes } from "@/approvals/routes";
import { assignmentRoutes } from "@/assignments/routes";
import { auditRoutes } from "@/audit/routes";
import { connectionRoutes } from "@/connections/routes";
import { grantRoutes } from "@/grants/routes";
import { keyRoutes } from "@/keys/routes";
import { killRoutes } from "@/kills/routes";
import { limitRoutes } from "@/limits/routes";
import { notificationRoutes } from "@/notifications/routes";
import { policyRoutes } from "@/policy/routes";
import { principalRoutes } from "@/principals/routes";
import { profileRoutes } from "@/profiles/routes";
import { registryRoutes } from "@/registry/routes";
import { roleRoutes } from "@/roles/routes";
import { runRoutes } from "@/runs/routes";
import { BrokenPage, PendingPage } from "@/shell/pending";
import { rootRoute, shellRoute } from "@/shell/routes";
import { tenantRoutes } from "@/tenants/routes";
import { toolRoutes } from "@/tools/routes";
import { toolsetRoutes } from "@/toolsets/routes";
import { upstreamRoutes } from "@/upstreams/routes";
import { usageRoutes } from "@/usage/routes";

// A new page: its folder's routes go here, its entry into shell/pages.ts.
const pages = [
  ...toolRoutes,
  ...runRoutes,
  ...approvalRoutes,
  ...grantRoutes,
  ...upstreamRoutes,
  ...connectionRoutes,
  ...registryRoutes,
  ...toolsetRoutes,
  ...assignmentRoutes,
  ...profileRoutes,
  ...principalRoutes,
  ...roleRoutes,
  ...tenantRoutes,
  ...keyRoutes,
  ...applicationRoutes,
  ...approvalRuleRoutes,
  ...limitRoutes,
  ...killRoutes,
  ...policyRoutes,
  ...usageRoutes,
  ...auditRoutes,
  ...notificationRoutes,
] as const;
const tree = rootRoute.addChildren([shellRoute.addChildren([...pages])]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultPendingComponent: PendingPage,
  defaultPendingMs: 200,
  defaultErrorComponent: BrokenPage,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
