import { type InfiniteData, infiniteQueryOptions, queryOptions, type QueryClient } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";

import { type AuditEvent, eventKey, type EventFilter, momentOf, withNews } from "./record";

export type EventPage = { events: AuditEvent[]; next_cursor?: string | null; looked_back_to?: string | null; newest: string };

const PAGE = 100;

const ask = async (query: EventFilter & { to?: string; cursor?: string; limit: number }): Promise<EventPage> =>
  (await unwrap(api.GET("/api/v1/audit/events", { params: { query: query as never } }))) as unknown as EventPage;

/** The record, newest first, in pages that never overlap. */
export const eventsQuery = (filter: EventFilter) =>
  infiniteQueryOptions({
    queryKey: ["audit", "events", filter],
    queryFn: ({ pageParam }) => ask({ ...filter, limit: PAGE, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

/** One event, found by when it was. */
export const eventQuery = (key: string) =>
  queryOptions({
    queryKey: ["audit", "event", key],
    queryFn: async () => {
      const moment = momentOf(key);
      const page = moment ? await ask({ ...moment, limit: 200 }) : null;
      return page?.events.find((event) => eventKey(event) === key) ?? null;
    },
  });

/** Puts an event that just came in front of those that are there. */
export function addNews(client: QueryClient, filter: EventFilter, news: AuditEvent): void {
  client.setQueryData(eventsQuery(filter).queryKey, (held: InfiniteData<EventPage> | undefined) => {
    const [first, ...rest] = held?.pages ?? [];
    if (!held || !first) return held;
    return { ...held, pages: [{ ...first, events: withNews(first.events, news) }, ...rest] };
  });
}
