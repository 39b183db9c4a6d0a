import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { textIn } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

/** What to look for in the record, and the event in the drawer: its session and number. */
export type AuditSearch = { kind?: "calls" | "decisions" | "changes"; actor?: string; q?: string; event?: string };

const kinds = ["calls", "decisions", "changes"];

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/audit",
  validateSearch: (search: Record<string, unknown>): AuditSearch => ({
    kind: kinds.includes(search.kind as string) ? (search.kind as AuditSearch["kind"]) : undefined,
    actor: textIn(search.actor),
    q: textIn(search.q),
    event: textIn(search.event),
  }),
  component: lazyRouteComponent(() => import("./audit-page"), "AuditPage"),
});

export const auditRoutes = [auditRoute] as const;
