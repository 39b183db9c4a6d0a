import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";

import { runQuery } from "./queries";

/** Asks a run to stop. */
export function useCancelRun(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/invocations/{id}/cancel", { params: { path: { id } }, body: {} as never })),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: runQuery(id).queryKey });
      void client.invalidateQueries({ queryKey: ["runs"] });
    },
  });
}
