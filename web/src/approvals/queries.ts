import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";

/** A call that waits for a person, or did. */
export type Approval = Schemas["InvocationView"];
export type Review = Schemas["ReviewView"];

/** What a tool says it would do. */
export type Preview = {
  summary: string;
  changes?: { field: string; before?: unknown; after?: unknown }[];
  count?: number;
  reversible?: boolean;
};

/** What waits for me: made by me, for me or given to me, or for any of us, newest first; and what else there is to do. */
export const inboxQuery = (box: "mine" | "group") =>
  queryOptions({
    queryKey: ["inbox", "list", box],
    queryFn: () => unwrap(api.GET("/api/v1/inbox", { params: { query: { box } } })),
  });

/** What I decided, newest first. */
export const decidedQuery = infiniteQueryOptions({
  queryKey: ["inbox", "list", "decided"],
  queryFn: ({ pageParam }) =>
    unwrap(api.GET("/api/v1/inbox", { params: { query: { box: "decided", limit: 50, cursor: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

/** One call, looked at again every few seconds while someone else may change it. */
export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id],
    queryFn: () => unwrap(api.GET("/api/v1/invocations/{id}", { params: { path: { id } } })),
    staleTime: 0,
    refetchInterval: (query) => (isMoving(query.state.data) ? 3_000 : false),
  });

/** Whether a person has yet to decide. */
export function isWaiting(approval: Approval): boolean {
  return approval.status === "pending" && approval.approval === "pending";
}

function isMoving(approval: Approval | undefined): boolean {
  return approval !== undefined && ["pending", "running", "waiting", "in_doubt"].includes(approval.status);
}

/** The preview, as far as it has the shape it should have. */
export function previewOf(approval: Approval): Preview | null {
  const preview = approval.review?.preview as Preview | null | undefined;
  return preview && typeof preview.summary === "string" ? preview : null;
}

/** The input that would run now: what a person changed it to, or what was asked for. */
export function inputOf(approval: Approval): Record<string, unknown> {
  return (approval.review?.input ?? approval.input) as Record<string, unknown>;
}
