import { createRouter } from "@tanstack/react-router";

import { approvalRoutes } from "@/approvals/routes";
import { grantRoutes } from "@/grants/routes";
import { runRoutes } from "@/runs/routes";
import { rootRoute, shellRoute } from "@/shell/routes";
import { toolRoutes } from "@/tools/routes";
import { upstreamRoutes } from "@/upstreams/routes";

// A new page: its folder's routes go here, its entry into shell/pages.ts.
const tree = rootRoute.addChildren([shellRoute.addChildren([...toolRoutes, ...runRoutes, ...approvalRoutes, ...grantRoutes, ...upstreamRoutes])]);

export const router = createRouter({ routeTree: tree, defaultPreload: "intent", scrollRestoration: true });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
