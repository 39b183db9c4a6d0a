import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { EyeOff, Link2, Play, Square } from "lucide-react";
import type { ReactNode } from "react";

import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ButtonLink } from "@/components/ui/button-link";
import { CopyableId, useCopy } from "@/components/ui/copyable";
import { BadgeSkeleton, Drawer, DrawerSection } from "@/components/ui/drawer";
import { JsonView } from "@/components/ui/json-view";
import { RelativeTime } from "@/components/ui/relative-time";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { EffectBadge, EgressBadge, StatusBadge } from "@/components/ui/state-badges";
import { ErrorNote, ErrorState } from "@/components/ui/states";
import { FileLinks } from "@/files/file-links";
import { formatDuration, formatNumber, principalName } from "@/lib/format";
import { Returned } from "@/output/content";
import { ShareButton } from "@/share/share-button";
import { type Tool, toolQuery } from "@/tools/queries";
import { Stopped } from "@/tools/result-panel";

import { useCancelRun } from "./actions";
import { runTime, useLiveRun } from "./live";
import { isOver, type Run } from "./queries";
import { hiddenFields } from "./redaction";
import { Timeline } from "./timeline";
import { PreviewOf, WaitingFor } from "./waiting";

/** One run with everything recorded of it. Open wherever `?run=` stands in the address. */
export function RunDrawer() {
  const { run: id } = useSearch({ strict: false }) as { run?: string };
  const navigate = useNavigate();
  const run = useLiveRun(id);
  const tool = useQuery({ ...toolQuery(run.data?.tool_id ?? ""), enabled: run.data !== undefined, retry: false });
  const close = () =>
    void navigate({ to: ".", search: ((before: Record<string, unknown>) => ({ ...before, run: undefined })) as never, resetScroll: false });
  if (id === undefined) return null;
  const shown = run.data;
  return (
    <Drawer
      open
      onClose={close}
      title={shown ? (tool.data?.title ?? shown.tool_id) : "Run"}
      badges={
        shown ? (
          <>
            <StatusBadge status={shown.status} />
            <EffectBadge effect={shown.effect} />
            <EgressBadge egress={shown.egress} />
          </>
        ) : run.isPending ? (
          <BadgeSkeleton />
        ) : null
      }
      description={
        run.isPending ? (
          <Skeleton className="h-5 w-40" />
        ) : shown ? (
          <span className="flex flex-wrap items-center gap-x-2">
            <CopyableId id={shown.id} />· <RelativeTime at={shown.created_at} />
          </span>
        ) : null
      }
      footer={shown ? <Footer run={shown} /> : null}
    >
      {run.isPending ? (
        <Loading label="Loading the run">
          <Skeleton className="h-24" />
          <Skeleton className="mt-6 h-40" />
          <Skeleton className="mt-6 h-40" />
        </Loading>
      ) : run.isError || !shown ? (
        <ErrorState error={run.error} what="This run can't be shown" onRetry={() => void run.refetch()} />
      ) : (
        <Details run={shown} tool={tool.data} />
      )}
    </Drawer>
  );
}

function Details({ run, tool }: { run: Run; tool?: Tool }) {
  const hidden = run.output == null ? [] : hiddenFields(tool, run.output);
  const edited = run.review?.input;
  return (
    <>
      <Facts run={run} />
      {isOver(run.status) ? null : <WaitingFor run={run} />}
      {run.status === "pending" ? <PreviewOf run={run} /> : null}
      {isOver(run.status) && run.status !== "completed" ? <Stopped run={run} /> : null}
      <DrawerSection title="What happened">
        <Timeline run={run} />
      </DrawerSection>
      <DrawerSection title={edited == null ? "Input" : "Input as it was asked"}>
        <JsonView value={run.input} label="Input" />
        <FileLinks run={run.id} value={run.input} label="Files of the input" />
      </DrawerSection>
      {edited == null ? null : (
        <DrawerSection title="Input as it was decided">
          <JsonView value={edited} label="Input as it was decided" />
          <FileLinks run={run.id} value={edited} label="Files of the input as it was decided" />
        </DrawerSection>
      )}
      {run.output == null ? null : (
        <DrawerSection title="Output" aside={hidden.length > 0 ? "Redacted before it was kept" : null}>
          <Returned run={run} label="Output" />
          <FileLinks run={run.id} value={run.output} label="Files of the output" />
          {hidden.length > 0 ? (
            <p className="mt-2 flex flex-wrap items-center gap-1.5 text-xs text-ink-3">
              Hidden:
              {hidden.map((field) => (
                <Badge key={field} icon={EyeOff}>
                  <span className="font-mono">{field}</span>
                </Badge>
              ))}
            </p>
          ) : null}
        </DrawerSection>
      )}
    </>
  );
}

function Facts({ run }: { run: Run }) {
  const time = runTime(run);
  const facts: [string, ReactNode][] = [
    ["Who", <Who key="who" run={run} />],
    ["Through", sources[run.source] ?? run.source],
    ["Took", time === null ? "not started" : formatDuration(time)],
    ["Cost", run.cost_micros == null ? "–" : formatNumber(run.cost_micros / 1e6)],
    ["Rule", run.rule ?? "–"],
    ["Tool version", run.tool_version ? <CopyableId key="v" id={run.tool_version} /> : "–"],
  ];
  if (run.attempt > 1) facts.push(["Attempts", String(run.attempt)]);
  if (run.decided_by) facts.push(["Decided by", `${principalName(run.decided_by).name}${run.reason ? `: “${run.reason}”` : ""}`]);
  return (
    <dl className="grid grid-cols-2 rounded-xl border border-line sm:grid-cols-3">
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0 px-4 py-2.5">
          <dt className="text-xs text-ink-3">{name}</dt>
          <dd className="mt-0.5 break-words text-sm font-medium">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const sources: Record<string, string> = { web: "the web UI", agent: "an agent", api: "the API", mcp: "MCP", system: "the gate itself" };

function Who({ run }: { run: Run }) {
  return (
    <>
      {principalName(run.actor).name}
      {run.subject ? <span className="font-normal text-ink-3"> for {principalName(run.subject).name}</span> : null}
    </>
  );
}

function Footer({ run }: { run: Run }) {
  const [copied, copy] = useCopy();
  const cancel = useCancelRun(run.id);
  return (
    <>
      <Button look="quiet" onClick={() => copy(`${window.location.origin}/runs?run=${run.id}`)}>
        <Link2 aria-hidden />
        {copied ? "Copied" : "Copy link"}
      </Button>
      <ShareButton run={run.id} />
      <span className="flex items-center gap-2">
        {cancel.isError ? <ErrorNote error={cancel.error} /> : null}
        {isOver(run.status) ? (
          <ButtonLink to="/tools/$id" params={{ id: run.tool_id }} search={{ input: JSON.stringify(run.review?.input ?? run.input) }}>
            <Play aria-hidden />
            Run again…
          </ButtonLink>
        ) : (
          <Button look="danger" disabled={cancel.isPending || run.cancel_requested} onClick={() => cancel.mutate()}>
            <Square aria-hidden />
            {run.cancel_requested ? "Stopping…" : "Cancel"}
          </Button>
        )}
      </span>
    </>
  );
}
