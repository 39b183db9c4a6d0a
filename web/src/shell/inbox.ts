import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";

import { askAgain, useEvents } from "@/api/live";

/** How many decisions wait for me. Server events keep it; nobody asks for it. */
export const inboxCountQuery = queryOptions({
  queryKey: ["inbox", "count"],
  queryFn: () => 0,
  enabled: false,
  initialData: 0,
  staleTime: Infinity,
});

/** The number in the side bar. */
export function useInboxCount(): number {
  return useQuery(inboxCountQuery).data;
}

/** Listens for decisions to make. The shell does, once. */
export function useInboxEvents(): void {
  const client = useQueryClient();
  useEvents("/api/v1/inbox/events", {
    types: ["inbox"],
    onEvent: (_, data) => {
      const count = (data as { count?: unknown }).count;
      client.setQueryData(inboxCountQuery.queryKey, typeof count === "number" ? count : 0);
      askAgain(client, ["inbox", "list"]);
    },
    // Whatever the pages show may have changed while nobody listened.
    onReturn: () => askAgain(client),
  });
}
