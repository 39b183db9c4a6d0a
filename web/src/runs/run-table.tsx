import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { History, SearchX } from "lucide-react";
import { memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { Schemas } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable";
import { RelativeTime } from "@/components/ui/relative-time";
import { LoadingRows } from "@/components/ui/skeleton";
import { EffectBadge, StatusBadge } from "@/components/ui/state-badges";
import { EmptyState, ErrorNote, ErrorState } from "@/components/ui/states";
import { cn } from "@/lib/cn";
import { formatCount, formatDuration, principalName } from "@/lib/format";
import { clipped } from "@/lib/visible";
import { toolsQuery } from "@/tools/queries";

import { runTime } from "./live";
import { PAGE, type Run, type RunFilter, runsQuery } from "./queries";

const ROW = 52;

/** Runs, newest first. More are asked for as the end comes near, and only the rows in sight are drawn. */
export function RunTable({ filter, hideTool, empty, action }: { filter: RunFilter; hideTool?: boolean; empty: ReactNode; action?: ReactNode }) {
  const list = useInfiniteQuery(runsQuery(filter));
  const tools = useQuery({ ...toolsQuery, enabled: !hideTool });
  const titles = useMemo(() => new Map(tools.data?.map((tool) => [tool.id, tool.title])), [tools.data]);
  const runs = useMemo(() => list.data?.pages.flatMap((page) => page.invocations) ?? [], [list.data]);
  const frame = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (frame.current) setTop(frame.current.getBoundingClientRect().top + window.scrollY);
  }, [list.isPending]);
  const virtual = useWindowVirtualizer({ count: runs.length, estimateSize: () => ROW, overscan: 6, scrollMargin: top });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  // A search that has looked far enough asks before it looks further.
  const searched = filter.text ? searchedBy(list.data?.pages ?? []) : null;
  const asks = searched?.asks ?? false;
  useEffect(() => {
    if (!asks && hasNextPage && !isFetchingNextPage && !list.isFetchNextPageError && last >= runs.length - 20) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, last, runs.length, list.isFetchNextPageError, asks]);
  const further = (
    <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      {isFetchingNextPage ? "Looking…" : "Look further back"}
    </Button>
  );

  if (list.isPending) {
    return (
      <Card>
        <LoadingRows label="Loading the runs" rows={8} />
      </Card>
    );
  }
  if (list.isError && runs.length === 0) {
    return (
      <Card>
        <ErrorState error={list.error} what="The runs could not be loaded" onRetry={() => void list.refetch()} />
      </Card>
    );
  }
  if (runs.length === 0 && searched && hasNextPage && !list.isFetchNextPageError) {
    return (
      <Card className="border-dashed bg-transparent shadow-none">
        <EmptyState icon={SearchX} title="Nothing found so far" action={further}>
          It is not in <Searched {...searched} />. Inputs over 8 kB are not looked into.
        </EmptyState>
      </Card>
    );
  }
  if (runs.length === 0 && !hasNextPage) {
    return (
      <Card className="border-dashed bg-transparent shadow-none">
        <EmptyState icon={searched ? SearchX : History} title="No runs here" action={action}>
          {empty}
          {searched && searched.calls > 0 ? ` All ${formatCount(searched.calls)} were looked through; inputs over 8 kB are left out.` : null}
        </EmptyState>
      </Card>
    );
  }
  const columns = cn(
    "grid items-center gap-4 px-5 max-md:px-4",
    hideTool
      ? "grid-cols-[140px_minmax(0,1fr)_150px_90px_100px] max-md:grid-cols-[minmax(0,1fr)_auto]"
      : "grid-cols-[140px_minmax(0,1.2fr)_minmax(0,1fr)_110px_90px_100px] max-md:grid-cols-[minmax(0,1fr)_auto]",
  );
  return (
    <Card className="overflow-hidden">
      <div role="table" aria-label="Runs" aria-rowcount={hasNextPage ? -1 : runs.length + 1}>
        <div role="rowgroup" className="border-b border-line bg-sunken max-md:sr-only">
          <div role="row" aria-rowindex={1} className={cn(columns, "h-10 text-xs font-medium text-ink-3")}>
            <span role="columnheader">Status</span>
            <span role="columnheader">{hideTool ? "Input" : "Tool"}</span>
            <span role="columnheader">Who</span>
            {hideTool ? null : <span role="columnheader">Effect</span>}
            <span role="columnheader" className="text-right">
              Took
            </span>
            <span role="columnheader" className="text-right">
              When
            </span>
          </div>
        </div>
        <div role="rowgroup" ref={frame} className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => (
            <Row key={runs[item.index]!.id} run={runs[item.index]!} title={titles.get(runs[item.index]!.tool_id)} index={item.index} top={item.start - top} columns={columns} hideTool={hideTool} />
          ))}
        </div>
      </div>
      {list.isFetchNextPageError ? (
        <div className="flex items-center gap-3 border-t border-line p-3">
          <ErrorNote error={list.error} className="flex-1" />
          <Button onClick={() => void fetchNextPage()}>Try again</Button>
        </div>
      ) : asks && searched ? (
        <div className="flex flex-wrap items-center justify-between gap-3 border-t border-line px-5 py-3 max-md:px-4">
          <p role="status" className="text-xs text-ink-3">
            Looked through <Searched {...searched} />.
          </p>
          {further}
        </div>
      ) : hasNextPage ? (
        <p className="border-t border-line px-5 py-3 text-center text-xs text-ink-3">Loading more…</p>
      ) : null}
    </Card>
  );
}

/** How far a search went: how many runs, and back to when. It asks before it goes on when the last part was not full. */
function searchedBy(pages: Schemas["InvocationListView"][]): { calls: number; backTo?: string; asks: boolean } {
  const last = pages.at(-1);
  return {
    calls: pages.reduce((sum, page) => sum + (page.searched?.calls ?? 0), 0),
    backTo: pages.findLast((page) => page.searched?.back_to)?.searched?.back_to ?? undefined,
    asks: last?.next_cursor != null && last.invocations.length < PAGE,
  };
}

function Searched({ calls, backTo }: { calls: number; backTo?: string }) {
  return (
    <>
      the newest {formatCount(calls)} runs{backTo ? <>, back to <RelativeTime at={backTo} /></> : null}
    </>
  );
}

const Row = memo(function Row({ run, title, index, top, columns, hideTool }: {
  run: Run;
  /** What people call the tool, where they may still see it. */
  title?: string;
  index: number;
  top: number;
  columns: string;
  hideTool?: boolean;
}) {
  const time = runTime(run);
  const name = hideTool ? inputLine(run) : title ? clipped(title, 80) : run.tool_id;
  const titled = !hideTool && title !== undefined;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={cn(columns, "absolute inset-x-0 border-b border-line text-sm text-ink-2 hover:bg-hover/60")}
      style={{ top, height: ROW }}
    >
      <span role="cell" className="max-md:order-2">
        <StatusBadge status={run.status} />
      </span>
      <span role="cell" className="min-w-0 truncate">
        <Link
          to="."
          search={(before: Record<string, unknown>) => ({ ...before, run: run.id }) as never}
          resetScroll={false}
          className={cn("text-ink outline-offset-[-2px] after:absolute after:inset-0", titled ? "text-sm font-medium" : "font-mono text-xs")}
          title={hideTool ? name : run.tool_id}
        >
          {name}
          <span className="sr-only"> run {shortId(run.id)}</span>
        </Link>
        {titled ? <span className="block truncate font-mono text-xs text-ink-3 max-md:hidden">{run.tool_id}</span> : null}
        <span className="block truncate text-xs text-ink-3 md:hidden">
          {principalName(run.actor).name} · <RelativeTime at={run.created_at} />
        </span>
      </span>
      <span role="cell" className="min-w-0 truncate max-md:hidden">
        {principalName(run.actor).name}
        {run.subject ? <span className="text-ink-3"> for {principalName(run.subject).name}</span> : null}
      </span>
      {hideTool ? null : (
        <span role="cell" className="max-md:hidden">
          <EffectBadge effect={run.effect} />
        </span>
      )}
      <span role="cell" className="text-right text-xs tabular-nums text-ink-3 max-md:hidden">
        {time === null ? "–" : formatDuration(time)}
      </span>
      <span role="cell" className="whitespace-nowrap text-right text-xs text-ink-3 max-md:hidden">
        <RelativeTime at={run.created_at} />
      </span>
    </div>
  );
});

function inputLine(run: Run): string {
  const text = JSON.stringify(run.input) ?? "";
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
