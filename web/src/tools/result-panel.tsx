import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Play, RotateCw, Square } from "lucide-react";
import { useEffect, useState } from "react";

import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable";
import { RelativeTime } from "@/components/ui/relative-time";
import { Said } from "@/components/ui/said";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { StatusBadge } from "@/components/ui/state-badges";
import { EmptyState, ErrorNote, ErrorState } from "@/components/ui/states";
import { sentence } from "@/api/error";
import { FileLinks } from "@/files/file-links";
import { formatDuration } from "@/lib/format";
import { Blocks, blocksOf } from "@/output/content";
import { Output, sectionsOf } from "@/output/sections";
import { useCancelRun } from "@/runs/actions";
import { progressOf, runTime } from "@/runs/live";
import { isOver, type Run } from "@/runs/queries";
import { PreviewOf, WaitingFor } from "@/runs/waiting";

import type { Tool } from "./queries";

/** What came of the run that is shown: nothing yet, on its way, waiting, an error, or the result. */
export function ResultPanel({ tool, call, run, calling, refused, onRerun }: {
  tool: Tool;
  call: string | undefined;
  run: UseQueryResult<Run>;
  calling: boolean;
  refused: unknown;
  onRerun: (input: unknown) => void;
}) {
  const shown = call === undefined ? undefined : run.data;
  return (
    <section aria-label="Result">
      <div className="mb-2 flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="text-sm font-semibold">Result</h2>
        {shown ? <Headline run={shown} /> : null}
        {shown && isOver(shown.status) && !calling ? (
          <Button look="quiet" size="sm" className="ml-auto" onClick={() => onRerun(shown.input)}>
            <RotateCw aria-hidden />
            Run again
          </Button>
        ) : null}
      </div>
      {refused ? <ErrorNote error={refused} className="mb-4" /> : null}
      {shown ? (
        <>
          <RunResult tool={tool} run={shown} />
          <FileLinks run={shown.id} value={shown.output} label="Files of the result" card />
        </>
      ) : calling || (call !== undefined && run.isPending) ? (
        <Card className="p-5">
          <Loading label="Running">
            <Skeleton className="h-4 w-24" />
            <Skeleton className="mt-4 h-4 w-3/4" />
            <Skeleton className="mt-2 h-4 w-1/2" />
            <Skeleton className="mt-6 h-16" />
          </Loading>
        </Card>
      ) : call !== undefined && run.isError ? (
        <Card>
          <ErrorState error={run.error} what="This run can't be shown" onRetry={() => void run.refetch()} />
        </Card>
      ) : (
        <Card className="border-dashed bg-transparent shadow-none">
          <EmptyState icon={Play} title="Nothing has run yet">
            Fill in the input and run it. The result appears here and is kept in the history.
          </EmptyState>
        </Card>
      )}
    </section>
  );
}

function Headline({ run }: { run: Run }) {
  const time = runTime(run);
  return (
    <span className="flex flex-wrap items-center gap-x-2 text-xs text-ink-3" role="status">
      <StatusBadge status={run.status} />
      {isOver(run.status) && time !== null ? <span>{formatDuration(time)} ·</span> : null}
      <Link
        to="."
        search={(before: Record<string, unknown>) => ({ ...before, run: run.id }) as never}
        className="rounded-sm font-mono hover:text-ink hover:underline"
      >
        run {shortId(run.id)}
      </Link>
      · <RelativeTime at={run.created_at} />
    </span>
  );
}

/** One run's result, wherever it is shown. */
export function RunResult({ tool, run }: { tool?: Tool; run: Run }) {
  if (run.status === "completed" || (run.output != null && isOver(run.status))) {
    return <Output value={run.output} content={run.content} sections={sectionsOf(tool?.output_sections)} />;
  }
  if (!isOver(run.status)) return <UnderWay run={run} />;
  return <Stopped run={run} />;
}

function UnderWay({ run }: { run: Run }) {
  const cancel = useCancelRun(run.id);
  const progress = progressOf(run);
  const running = run.status === "running";
  return (
    <Card className="space-y-5 p-5">
      {running ? (
        <div>
          <div className="flex items-center justify-between gap-3 text-sm">
            <span className="min-w-0 truncate text-ink-2" role="status">
              {progress ? progress.text : "Running"}
            </span>
            <Elapsed run={run} />
          </div>
          <div
            role="progressbar"
            aria-label="Progress"
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={progress?.share == null ? undefined : Math.round(progress.share * 100)}
            className="mt-2 h-1.5 overflow-hidden rounded-full bg-hover"
          >
            <div
              className={`h-full rounded-full bg-info transition-[width] duration-200 ${progress?.share == null ? "w-1/3 animate-pulse" : ""}`}
              style={progress?.share == null ? undefined : { width: `${progress.share * 100}%` }}
            />
          </div>
        </div>
      ) : (
        <PreviewOf run={run} />
      )}
      <WaitingFor run={run} />
      {cancel.isError ? <ErrorNote error={cancel.error} /> : null}
      <Button look="danger" disabled={cancel.isPending || run.cancel_requested} onClick={() => cancel.mutate()}>
        <Square aria-hidden />
        {run.cancel_requested ? "Stopping…" : "Cancel"}
      </Button>
    </Card>
  );
}

function Elapsed({ run }: { run: Run }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  const time = runTime(run, now);
  return <span className="shrink-0 text-xs tabular-nums text-ink-3">{time === null ? "" : formatDuration(time)}</span>;
}

/** Why there is no result, and what would help. */
export function Stopped({ run }: { run: Run }) {
  const error = run.error;
  const told = blocksOf((error?.details as { content?: unknown } | undefined)?.content) ?? [];
  // What its server says stands below in full; the message has the beginning of it.
  const said = told.length > 0 ? "" : run.status === "rejected" && run.reason ? `“${run.reason}”` : sentence(error?.message ?? "");
  return (
    <Card className="p-5">
      <p className="text-sm font-medium">{titles[run.status] ?? "It did not end well."}</p>
      {said ? <p className="mt-1 max-w-[72ch] break-words text-sm text-ink-2"><Said text={said} /></p> : null}
      {error?.hint ? <p className="mt-1 max-w-[72ch] text-sm text-ink-3"><Said text={sentence(error.hint)} /></p> : null}
      {told.length > 0 ? (
        <div className="mt-3 space-y-3">
          <Blocks blocks={told} plain />
        </div>
      ) : null}
      {error?.code ? <code className="mt-2 block font-mono text-xs text-ink-3">{error.code}</code> : null}
    </Card>
  );
}

const titles: Record<string, string> = {
  failed: "It stopped with an error.",
  rejected: "A person said no.",
  cancelled: "It was cancelled.",
  expired: "Nobody answered in time; nothing was run.",
  in_doubt: "Nobody knows whether it happened: it was under way when the record broke off. A person has to settle it.",
};
