import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Download, RefreshCw, ScrollText } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";

import { Requester } from "@/approvals/requester";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { SearchInput } from "@/components/ui/input";
import { nameColumn, personColumn, rowNameLook } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { Select } from "@/components/ui/select";
import { LoadingRows } from "@/components/ui/skeleton";
import { EmptyState, ErrorState } from "@/components/ui/states";
import { Switch } from "@/components/ui/switch";
import { type Column, Table } from "@/components/ui/table";
import { counted, formatCount } from "@/lib/format";
import { clipped } from "@/lib/visible";

import { EventDrawer } from "./event-drawer";
import { aboutOf, type AuditEvent, eventKey, kindOf, recordQuery, toolsOf } from "./record";
import type { AuditSearch } from "./routes";
import { Verify } from "./verify";
import { EventBadge } from "./words";

const route = getRouteApi("/shell/audit");
/** Rows that are drawn before more are asked for. */
const STEP = 100;
/** Up to this size the record is read again every few seconds by those who follow it. */
const FOLLOWED = 4 * 1024 * 1024;

/** The record: everything that happened, newest first. */
export function AuditPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [most, setMost] = useState(STEP);
  const [follow, setFollow] = useState(false);
  const record = useQuery({
    ...recordQuery,
    refetchInterval: (query) => (follow && (query.state.data?.bytes ?? 0) < FOLLOWED ? 3_000 : false),
  });
  const change = (next: Partial<AuditSearch>) => {
    setMost(STEP);
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false });
  };
  const events = record.data?.events;
  const tools = useMemo(() => toolsOf(events ?? []), [events]);
  const actors = useMemo(() => [...new Set((events ?? []).map((event) => event.actor))].sort(), [events]);
  const wanted = useDeferredValue((search.q ?? "").toLowerCase());
  const found = useMemo(
    () =>
      (events ?? []).filter(
        (event) =>
          (search.kind === undefined || kindOf(event) === search.kind) &&
          (search.actor === undefined || event.actor === search.actor) &&
          (wanted === "" || `${tools.get(event.call_id ?? "") ?? ""} ${JSON.stringify(event)}`.toLowerCase().includes(wanted)),
      ),
    [events, search.kind, search.actor, wanted, tools],
  );
  const open = events?.find((event) => eventKey(event) === search.event);
  const columns: Column<AuditEvent>[] = [
    {
      key: "what",
    className: nameColumn,
      title: "About",
      cell: (event) => (
        <Link from="/audit" to="." search={(before) => ({ ...before, event: eventKey(event) })} resetScroll={false} className={rowNameLook}>
          {clipped(aboutOf(event) || (tools.get(event.call_id ?? "") ?? event.type), 120)}
          <span className="sr-only"> event {event.seq}</span>
        </Link>
      ),
    },
    { key: "type", title: "What happened", cell: (event) => <EventBadge type={event.type} /> },
    { key: "who", className: personColumn, title: "Who", cell: (event) => <Requester actor={event.actor} /> },
    { key: "at", title: "When", cell: (event) => <RelativeTime at={event.at} className="whitespace-nowrap" /> },
  ];
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
        <SearchInput
          label="Search the record"
          placeholder="Tool, id, any word"
          className="w-64 max-sm:w-full"
          value={search.q ?? ""}
          onChange={(event) => change({ q: event.target.value || undefined })}
        />
        <Select aria-label="Kind" className="w-40 max-sm:w-[calc(50%-4px)]" value={search.kind ?? ""} onChange={(event) => change({ kind: (event.target.value || undefined) as AuditSearch["kind"] })}>
          <option value="">Everything</option>
          <option value="calls">Calls</option>
          <option value="decisions">Decisions</option>
          <option value="changes">Changes</option>
        </Select>
        <Select aria-label="Who" className="w-52 max-sm:w-[calc(50%-4px)]" value={search.actor ?? ""} onChange={(event) => change({ actor: event.target.value || undefined })}>
          <option value="">Anyone</option>
          {search.actor && !actors.includes(search.actor) ? <option value={search.actor}>{search.actor}</option> : null}
          {actors.map((actor) => (
            <option key={actor} value={actor}>
              {actor}
            </option>
          ))}
        </Select>
        <label htmlFor="audit-follow" className="flex items-center gap-2 text-sm">
          <Switch id="audit-follow" checked={follow} onCheckedChange={setFollow} disabled={(record.data?.bytes ?? 0) >= FOLLOWED} />
          Follow
        </label>
        <Button look="quiet" disabled={record.isFetching} onClick={() => void record.refetch()}>
          <RefreshCw aria-hidden />
          Read again
        </Button>
        <span role="status" className="text-xs text-ink-3">
          {record.data ? `${counted(found.length, "event")} of ${formatCount(record.data.read)}` : ""}
        </span>
      </div>
      {record.data && !record.data.whole ? (
        <p role="note" className="mb-4 rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn-ink">
          The record is too large to be read here to its end: the newest events may be missing. Export it, or look at the runs.
        </p>
      ) : null}
      <Card className="overflow-hidden">
        {record.isPending ? (
          <LoadingRows label="Reading the record" rows={8} />
        ) : record.isError && !record.data ? (
          <ErrorState error={record.error} what="The record could not be read" onRetry={() => void record.refetch()} />
        ) : found.length === 0 ? (
          <EmptyState
            icon={ScrollText}
            title="No event fits"
            action={
              <Button onClick={() => void navigate({ search: {}, replace: true })}>Show everything</Button>
            }
          >
            Take a filter away, or look for another word.
          </EmptyState>
        ) : (
          <Table label="Events" columns={columns} rows={found.slice(0, most)} rowKey={eventKey} />
        )}
        {found.length > most ? (
          <div className="border-t border-line p-3">
            <Button onClick={() => setMost(most + STEP)}>Show more</Button>
          </div>
        ) : null}
      </Card>
      {open ? <EventDrawer key={search.event} event={open} onClose={() => change({ event: undefined })} /> : null}
    </>
  );
}
