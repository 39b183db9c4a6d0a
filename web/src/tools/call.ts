import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, problemOf, type Schemas } from "@/api/client";
import { ApiProblem } from "@/api/error";
import { runQuery } from "@/runs/queries";

/** How many seconds a quick tool gets to answer before its run is followed instead. */
const QUICK = 0.5;

export type CallView = Schemas["CallView"];

/** Calls a tool. Whatever becomes of it, there is a run to look at, unless nothing was accepted. */
export function useCallTool(tool: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (input: unknown): Promise<CallView> => {
      const { data, error, response } = await api.POST("/api/v1/tools/{id}/invoke", {
        params: { path: { id: tool }, query: { wait: QUICK } },
        body: { input: input as never },
      });
      // A call that failed is a call all the same, and has a record.
      const answer = (data ?? error) as Partial<CallView> | undefined;
      if (typeof answer?.call_id === "string") return answer as CallView;
      throw problemOf(response, error);
    },
    onSuccess: (call) => {
      void client.invalidateQueries({ queryKey: runQuery(call.call_id).queryKey });
      void client.invalidateQueries({ queryKey: ["runs"] });
      void client.invalidateQueries({ queryKey: ["usage"] });
    },
  });
}

/** What the server found wrong with the input, as paths and words. */
export function violationsOf(error: unknown): { path: string[]; message: string }[] {
  const details = error instanceof ApiProblem ? error.details : (error as Schemas["ErrorView"] | null | undefined)?.details;
  const list = (details as { violations?: unknown } | null | undefined)?.violations;
  if (!Array.isArray(list)) return [];
  return list
    .filter((one): one is { path: string; message: string } => typeof one?.path === "string" && typeof one?.message === "string")
    .map((one) => ({
      path: one.path.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")),
      message: `${one.message[0]?.toUpperCase() ?? ""}${one.message.slice(1)}.`,
    }));
}
