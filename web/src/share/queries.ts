import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";

export type Share = Schemas["ShareView"];
export type NewShare = Schemas["NewShareView"];

/** The links to a run that still work. */
export const sharesQuery = (run: string) =>
  queryOptions({
    queryKey: ["shares", run],
    queryFn: async () => (await unwrap(api.GET("/api/v1/invocations/{id}/shares", { params: { path: { id: run } } }))).shares,
  });

/** Makes a link that lasts so many seconds. */
export function useShare(run: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (seconds: number) =>
      unwrap(api.POST("/api/v1/invocations/{id}/shares", { params: { path: { id: run } }, body: { expires_in_seconds: seconds } })),
    onSettled: () => void client.invalidateQueries({ queryKey: sharesQuery(run).queryKey }),
  });
}

/** Takes a link back. */
export function useUnshare(run: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE("/api/v1/shares/{id}", { params: { path: { id } } })),
    onSettled: () => void client.invalidateQueries({ queryKey: sharesQuery(run).queryKey }),
  });
}
