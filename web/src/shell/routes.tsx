import { createRootRoute, createRoute, Outlet } from "@tanstack/react-router";

import { goToSignIn } from "@/api/client";
import { ApiProblem } from "@/api/error";
import { queryClient, signInQuery } from "@/api/queries";
import { ErrorState } from "@/components/ui/states";

import { NotFound } from "./not-found";
import { Shell } from "./shell";

/** The run drawer is at home on every page. */
export type ShellSearch = { run?: string };

export const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

/** What stands around every page, for those who are signed in. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  component: Shell,
  validateSearch: (search: Record<string, unknown>): ShellSearch =>
    typeof search.run === "string" ? { run: search.run } : {},
  beforeLoad: async () => {
    try {
      await queryClient.ensureQueryData(signInQuery);
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.status !== 401) throw error;
      goToSignIn();
      // The page is being left: nothing is drawn in between.
      await new Promise(() => {});
    }
  },
  errorComponent: ({ error, reset }) => (
    <main className="flex min-h-dvh items-center justify-center">
      <ErrorState level={1} error={error} what="Toolgate could not be opened" onRetry={reset} />
    </main>
  ),
});
