import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { shellRoute } from "@/shell/routes";

/** How the library is narrowed. Lists are written with commas. */
export type LibrarySearch = { q?: string; category?: string; effect?: string; origin?: string; sort?: "name" | "recent" };

/** What the tool page shows: a tab, the run whose result stands beside the form, or an input to begin with. */
export type ToolSearch = { tab?: ToolTab; call?: string; input?: string };
export type ToolTab = "run" | "history" | "schema" | "access" | "usage";

const tabs: readonly string[] = ["run", "history", "schema", "access", "usage"];
const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;

export const libraryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/",
  validateSearch: (search: Record<string, unknown>): LibrarySearch => ({
    q: text(search.q),
    category: text(search.category),
    effect: text(search.effect),
    origin: text(search.origin),
    sort: search.sort === "recent" || search.sort === "name" ? search.sort : undefined,
  }),
  component: lazyRouteComponent(() => import("./library-page"), "LibraryPage"),
});

export const toolRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/tools/$id",
  validateSearch: (search: Record<string, unknown>): ToolSearch => ({
    tab: tabs.includes(search.tab as string) ? (search.tab as ToolTab) : undefined,
    call: text(search.call),
    // A link may carry the input as JSON text, or, as the router writes it, as JSON itself.
    input: typeof search.input === "object" && search.input !== null ? JSON.stringify(search.input) : text(search.input),
  }),
  component: lazyRouteComponent(() => import("./tool-page"), "ToolPage"),
});

export const toolRoutes = [libraryRoute, toolRoute] as const;
