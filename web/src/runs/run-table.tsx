import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { History } from "lucide-react";
import { memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable";
import { RelativeTime } from "@/components/ui/relative-time";
import { LoadingRows } from "@/components/ui/skeleton";
import { EffectBadge, StatusBadge } from "@/components/ui/state-badges";
import { EmptyState, ErrorNote, ErrorState } from "@/components/ui/states";
import { cn } from "@/lib/cn";
import { formatDuration, principalName } from "@/lib/format";

import { runTime } from "./live";
import { type Run, type RunFilter, runsQuery } from "./queries";

const ROW = 52;

/** Runs, newest first. More are asked for as the end comes near, and only the rows in sight are drawn. */
export function RunTable({ filter, hideTool, empty }: { filter: RunFilter; hideTool?: boolean; empty: ReactNode }) {
  const list = useInfiniteQuery(runsQuery(filter));
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
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !list.isFetchNextPageError && last >= runs.length - 20) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, last, runs.length, list.isFetchNextPageError]);

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
  if (runs.length === 0 && !hasNextPage) {
    return (
      <Card className="border-dashed bg-transparent shadow-none">
        <EmptyState icon={History} title="No runs here">
          {empty}
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
            <Row key={runs[item.index]!.id} run={runs[item.index]!} index={item.index} top={item.start - top} columns={columns} hideTool={hideTool} />
          ))}
        </div>
      </div>
      {list.isFetchNextPageError ? (
        <div className="flex items-center gap-3 border-t border-line p-3">
          <ErrorNote error={list.error} className="flex-1" />
          <Button onClick={() => void fetchNextPage()}>Try again</Button>
        </div>
      ) : hasNextPage ? (
        <p className="border-t border-line px-5 py-3 text-center text-xs text-ink-3">Loading more…</p>
      ) : null}
    </Card>
  );
}

const Row = memo(function Row({ run, index, top, columns, hideTool }: { run: Run; index: number; top: number; columns: string; hideTool?: boolean }) {
  const time = runTime(run);
  const name = hideTool ? inputLine(run) : run.tool_id;
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
          className="font-mono text-xs text-ink outline-offset-[-2px] after:absolute after:inset-0"
          title={name}
        >
          {name}
          <span className="sr-only"> run {shortId(run.id)}</span>
        </Link>
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
