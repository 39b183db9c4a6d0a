import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, problemOf, type Schemas, unwrap } from "@/api/client";

export type ApproveRequest = Schemas["ApproveRequest"];
export type CallOutcome = Schemas["CallView"];
export type Settlement = Schemas["SettlementWord"];

/** How many seconds an approved call is waited for; what takes longer is shown as running. */
const PATIENCE = 2;

/** Says yes. A call that was let run and then failed was still let run: its outcome is the answer, not an error. */
export async function approveCall(id: string, body: ApproveRequest): Promise<CallOutcome> {
  const params = { path: { id }, query: { wait: PATIENCE } };
  return outcomeOf(await api.POST("/api/v1/invocations/{id}/approve", { params, body }));
}

/** Says no, and why. */
export function rejectCall(id: string, reason: string, digest: string | undefined) {
  return unwrap(api.POST("/api/v1/invocations/{id}/reject", { params: { path: { id } }, body: { reason, digest } }));
}

async function settleCall(id: string, outcome: Settlement): Promise<CallOutcome> {
  const params = { path: { id }, query: { wait: PATIENCE } };
  return outcomeOf(await api.POST("/api/v1/invocations/{id}/settle", { params, body: { outcome } }));
}

function outcomeOf(answer: { data?: unknown; error?: unknown; response: Response }): CallOutcome {
  const body = answer.data ?? answer.error;
  if (body !== null && typeof body === "object" && "call_id" in body) return body as CallOutcome;
  throw problemOf(answer.response, answer.error);
}

/** Everything that can be done about one call. Whatever came of it, what is shown is looked at again. */
export function useDecisions(id: string) {
  const client = useQueryClient();
  const onSettled = () => refreshApprovals(client, id);
  return {
    approve: useMutation({ mutationFn: (body: ApproveRequest) => approveCall(id, body), onSettled }),
    reject: useMutation({
      mutationFn: (body: { reason: string; digest: string | undefined }) => rejectCall(id, body.reason, body.digest),
      onSettled,
    }),
    edit: useMutation({
      mutationFn: (body: Schemas["EditRequest"]) =>
        unwrap(api.POST("/api/v1/invocations/{id}/edit", { params: { path: { id } }, body })),
      onSettled,
    }),
    remark: useMutation({
      mutationFn: (text: string) =>
        unwrap(api.POST("/api/v1/invocations/{id}/remarks", { params: { path: { id } }, body: { text } })),
      onSettled,
    }),
    reassign: useMutation({
      mutationFn: (body: Schemas["ReassignRequest"]) =>
        unwrap(api.POST("/api/v1/invocations/{id}/reassign", { params: { path: { id } }, body })),
      onSettled,
    }),
    settle: useMutation({ mutationFn: (outcome: Settlement) => settleCall(id, outcome), onSettled }),
  };
}

export type Decisions = ReturnType<typeof useDecisions>;

/** Looks again at a call, the inbox and the grants. */
export function refreshApprovals(client: ReturnType<typeof useQueryClient>, id?: string): Promise<unknown> {
  const keys = [["inbox", "list"], ["runs"], ["grants"], ...(id ? [["run", id]] : [])];
  return Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
}
