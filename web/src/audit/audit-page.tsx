import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Download, ScrollText } from "lucide-react";
import { useEffect, useMemo } from "react";

import { useEvents } from "@/api/live";
import { Requester } from "@/approvals/requester";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { nameColumn, personColumn, rowNameLook } from "@/components/ui/listing";
import { LongTable } from "@/components/ui/long-table";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { Select } from "@/components/ui/select";
import { LoadingRows } from "@/components/ui/skeleton";
import { EmptyState, ErrorNote, ErrorState } from "@/components/ui/states";
import { Switch } from "@/components/ui/switch";
import type { Column } from "@/components/ui/table";
import { formatExact } from "@/lib/format";
import { clipped } from "@/lib/visible";
import { toolsQuery } from "@/tools/queries";

import { EventDrawer } from "./event-drawer";
import { FilterInput } from "./filter-input";
import { addNews, eventQuery, eventsQuery } from "./queries";
import { aboutOf, type AuditEvent, eventKey, filterOf, principalIn, queryOf } from "./record";
import type { AuditSearch } from "./routes";
import { Verify } from "./verify";
import { EventBadge } from "./words";

const route = getRouteApi("/shell/audit");
const spans = { hour: 3600, day: 86_400, week: 604_800 } as const;

const columns: Column<AuditEvent>[] = [
  {
    key: "what",
    className: nameColumn,
    title: "About",
    cell: (event) => (
      <Link from="/audit" to="." search={(before) => ({ ...before, event: eventKey(event) })} resetScroll={false} className={rowNameLook}>
        {clipped(aboutOf(event) || event.type, 120)}
        <span className="sr-only"> event {event.seq}</span>
      </Link>
    ),
  },
  { key: "type", title: "What happened", cell: (event) => <EventBadge type={event.type} /> },
  { key: "who", className: personColumn, title: "Who", cell: (event) => <Requester actor={event.actor} subject={event.subject ?? undefined} /> },
  { key: "at", title: "When", cell: (event) => <RelativeTime at={event.at} className="whitespace-nowrap" /> },
];

/** The record: everything that happened, newest first. */
export function AuditPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<AuditSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false });
  // A span is counted from when it was chosen: a filter that moves would ask again and again.
  const from = useMemo(
    () => (search.within ? new Date(Date.now() - spans[search.within] * 1000).toISOString() : undefined),
    [search.within],
  );
  const { kind, actor, tool, about } = search;
  const filter = useMemo(() => filterOf({ kind, actor, tool, about }, from), [kind, actor, tool, about, from]);
  const list = useEventList(filter);
  const events = useMemo(() => list.data?.pages.flatMap((page) => page.events) ?? [], [list.data]);
  const newest = list.data?.pages[0]?.newest;
  useLookingOn(list, events.length === 0);
  useFollowing(search.live === true && newest !== undefined, filter, newest ?? "", () => void list.refetch());
  const table = useMemo(() => <LongTable label="Events" columns={columns} rows={events} rowKey={eventKey} />, [events]);
  const narrowed = Boolean(kind ?? actor ?? tool ?? about ?? search.within);
  return (
    <>
      <PageHeader
        title="Audit"
        description="Everything that happened: calls, decisions, and changes by those who manage. Each event carries the digest of the one before it."
        action={
          <Button asChild>
            <a href="/api/v1/audit/export" download="toolgate-audit.jsonl">
              <Download aria-hidden />
              Export all
            </a>
          </Button>
        }
      />
      <Verify />
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <Filters search={search} change={change} />
        <label htmlFor="audit-live" className="flex items-center gap-2 text-sm">
          <Switch id="audit-live" checked={search.live === true} onCheckedChange={(on) => change({ live: on ? true : undefined })} />
          Live
        </label>
        {narrowed ? (
          <Button look="quiet" onClick={() => void navigate({ search: (before) => ({ live: before.live }), replace: true })}>
            Clear
          </Button>
        ) : null}
      </div>
      <Card className="overflow-hidden">
        {list.isPending ? (
          <LoadingRows label="Reading the record" rows={8} />
        ) : list.isError && events.length === 0 ? (
          <ErrorState error={list.error} what="The record could not be read" onRetry={() => void list.refetch()} />
        ) : events.length > 0 ? (
          table
        ) : list.hasNextPage ? (
          list.isFetching ? <LoadingRows label="Looking further back" rows={4} /> : null
        ) : (
          <EmptyState
            icon={ScrollText}
            title="No event fits"
            action={<Button onClick={() => void navigate({ search: {}, replace: true })}>Show everything</Button>}
          >
            Take a filter away, or look further back.
          </EmptyState>
        )}
        {list.hasNextPage ? <More list={list} back={list.data?.pages.at(-1)?.looked_back_to} /> : null}
      </Card>
      {search.event ? <Opened key={search.event} id={search.event} events={events} onClose={() => change({ event: undefined })} /> : null}
    </>
  );
}

/** How many pages without an event that fits are asked for before someone has to say so. */
const PATIENCE = 10;

/** Goes on looking by itself while nothing was found. */
function useLookingOn(list: ReturnType<typeof useEventList>, nothing: boolean): void {
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  const looked = list.data?.pages.length ?? 0;
  useEffect(() => {
    if (nothing && hasNextPage && !isFetching && !isError && looked < PATIENCE) void fetchNextPage();
  }, [nothing, hasNextPage, isFetching, isError, looked, fetchNextPage]);
}

const useEventList = (filter: ReturnType<typeof filterOf>) => useInfiniteQuery(eventsQuery(filter));

/** Hears what comes into the record. */
function useFollowing(on: boolean, filter: ReturnType<typeof filterOf>, newest: string, onReturn: () => void): void {
  const client = useQueryClient();
  const query = queryOf(filter);
  query.set("after", newest);
  useEvents(on ? `/api/v1/audit/events/live?${query.toString()}` : null, {
    types: ["audit"],
    onEvent: (_, data) => addNews(client, filter, data as AuditEvent),
    onReturn,
  });
}

function Filters({ search, change }: { search: AuditSearch; change: (next: Partial<AuditSearch>) => void }) {
  const tools = useQuery(toolsQuery);
  return (
    <>
      <Select aria-label="Kind" className="w-40 max-sm:w-[calc(50%-4px)]" value={search.kind ?? ""} onChange={(event) => change({ kind: (event.target.value || undefined) as AuditSearch["kind"] })}>
        <option value="">Everything</option>
        <option value="calls">Calls</option>
        <option value="failed">Failed calls</option>
        <option value="decisions">Decisions</option>
        <option value="changes">Changes</option>
      </Select>
      <Select aria-label="Time" className="w-36 max-sm:w-[calc(50%-4px)]" value={search.within ?? ""} onChange={(event) => change({ within: (event.target.value || undefined) as AuditSearch["within"] })}>
        <option value="">Any time</option>
        <option value="hour">Last hour</option>
        <option value="day">Last day</option>
        <option value="week">Last week</option>
      </Select>
      <FilterInput
        label="Who"
        placeholder="Who: agent:helper"
        className="w-44 max-sm:w-[calc(50%-4px)]"
        value={search.actor ?? ""}
        fits={/^((user|agent|service):)?[A-Za-z0-9_.@+/-][A-Za-z0-9_.@+/:-]*$/}
        onChange={(typed) => change({ actor: principalIn(typed) || undefined })}
      />
      <Select aria-label="Tool" className="w-48 max-sm:w-[calc(50%-4px)]" value={search.tool ?? ""} onChange={(event) => change({ tool: event.target.value || undefined })}>
        <option value="">Every tool</option>
        {search.tool && !tools.data?.some((tool) => tool.id === search.tool) ? <option value={search.tool}>{search.tool}</option> : null}
        {tools.data?.slice(0, 1000).map((tool) => (
          <option key={tool.id} value={tool.id}>
            {tool.title}
          </option>
        ))}
      </Select>
      <FilterInput
        label="Session or run"
        placeholder="ses_… or inv_…"
        className="w-40 font-mono text-xs max-sm:w-full"
        value={search.about ?? ""}
        fits={/^(ses|inv)_[0-9a-f]{32}$/}
        onChange={(about) => change({ about: about || undefined })}
      />
    </>
  );
}

function More({ list, back }: { list: Pick<ReturnType<typeof useInfiniteQuery>, "isFetchNextPageError" | "error" | "isFetchingNextPage" | "fetchNextPage">; back?: string | null }) {
  return (
    <div className="flex flex-wrap items-center gap-3 border-t border-line p-3">
      {list.isFetchNextPageError ? <ErrorNote error={list.error} className="flex-1" /> : null}
      <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {list.isFetchingNextPage ? "Loading…" : back ? "Keep looking" : "Show more"}
      </Button>
      {back ? (
        <span role="status" className="text-xs text-ink-3">
          Looked back to {formatExact(back)}.
        </span>
      ) : null}
    </div>
  );
}

/** The event in the drawer: one of those in the list, or one that is looked up. */
function Opened({ id, events, onClose }: { id: string; events: AuditEvent[]; onClose: () => void }) {
  const held = events.find((event) => eventKey(event) === id);
  const found = useQuery({ ...eventQuery(id), enabled: held === undefined });
  const event = held ?? found.data;
  return event ? <EventDrawer event={event} onClose={onClose} /> : null;
}
