import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { flagIn, textIn } from "@/lib/search";
import { shellRoute } from "@/shell/routes";

const kinds = ["calls", "failed", "decisions", "changes"] as const;
const spans = ["hour", "day", "week"] as const;

/** What to look for in the record, whether to follow it, and the event in the drawer: its time, number and session. */
export type AuditSearch = {
  kind?: (typeof kinds)[number];
  actor?: string;
  tool?: string;
  /** A session or a call. */
  about?: string;
  within?: (typeof spans)[number];
  live?: true;
  event?: string;
};

const oneOf = <Word extends string>(words: readonly Word[], value: unknown): Word | undefined => words.find((word) => word === value);

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/audit",
  validateSearch: (search: Record<string, unknown>): AuditSearch => ({
    kind: oneOf(kinds, search.kind),
    actor: textIn(search.actor),
    tool: textIn(search.tool),
    about: textIn(search.about),
    within: oneOf(spans, search.within),
    live: flagIn(search.live),
    event: textIn(search.event),
  }),
  component: lazyRouteComponent(() => import("./audit-page"), "AuditPage"),
});

export const auditRoutes = [auditRoute] as const;
