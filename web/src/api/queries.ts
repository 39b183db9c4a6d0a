import { QueryClient, queryOptions, useQuery } from "@tanstack/react-query";

import { api, readSignIn, unwrap } from "./client";
import { ApiProblem } from "./error";

/** What the pages have seen; server events bring it up to date. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // An answer that says no is an answer; only silence is worth another try.
      retry: (count, error) => !(error instanceof ApiProblem && error.status < 500) && count < 2,
    },
  },
});

/** Who is signed in. */
export const signInQuery = queryOptions({ queryKey: ["sign-in"], queryFn: readSignIn, staleTime: 5 * 60_000 });

/** What they may do. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: () => unwrap(api.GET("/api/v1/me")),
  staleTime: 5 * 60_000,
});

/** Whether an access rule is held: `*` holds all, `a.*` all that begin with `a.`. */
export function holds(rules: readonly string[] | undefined, wanted: string): boolean {
  return (rules ?? []).some(
    (rule) => rule === "*" || rule === wanted || (rule.endsWith(".*") && wanted.startsWith(rule.slice(0, -1))),
  );
}

/** Whether the signed-in person holds an access rule; false while that is not known. */
export function useHolds(wanted: string | undefined): boolean {
  const me = useQuery(meQuery);
  return wanted === undefined || holds(me.data?.rules, wanted);
}
