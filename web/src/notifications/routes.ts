import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { shellRoute } from "@/shell/routes";

/** Which notifications are shown. */
export type NotificationsSearch = { state?: "waiting" | "delivered" | "dead" };

const states = ["waiting", "delivered", "dead"];

export const notificationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/notifications",
  validateSearch: (search: Record<string, unknown>): NotificationsSearch => ({
    state: states.includes(search.state as string) ? (search.state as NotificationsSearch["state"]) : undefined,
  }),
  component: lazyRouteComponent(() => import("./notifications-page"), "NotificationsPage"),
});

export const notificationRoutes = [notificationsRoute] as const;
