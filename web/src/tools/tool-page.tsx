import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { lazy, Suspense } from "react";

import { ButtonLink } from "@/components/ui/button-link";
import { usePageTitle } from "@/components/ui/page-header";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { ApprovalBadge, EffectBadge, EgressBadge, OriginBadge } from "@/components/ui/state-badges";
import { ErrorState } from "@/components/ui/states";
import { TabPanel, Tabs } from "@/components/ui/tabs";
import { ToolIcon } from "@/components/ui/tool-icon";
import { formatCount, humanWord } from "@/lib/format";

import { CopyMenu } from "./copy-menu";
import { type Tool, toolQuery } from "./queries";
import type { ToolTab } from "./routes";
import { RunTab } from "./run-tab";
import { statsByTool, usageQuery } from "./stats";

const HistoryTab = lazy(() => import("./history-tab").then((module) => ({ default: module.HistoryTab })));
const SchemaTab = lazy(() => import("./schema-tab").then((module) => ({ default: module.SchemaTab })));
const AccessTab = lazy(() => import("./access-tab").then((module) => ({ default: module.AccessTab })));
const UsageTab = lazy(() => import("./usage-tab").then((module) => ({ default: module.UsageTab })));

const route = getRouteApi("/shell/tools/$id");

/** One tool: run it, and all there is to know about it. */
export function ToolPage() {
  const { id } = route.useParams();
  const tool = useQuery(toolQuery(id));
  usePageTitle(tool.data?.title ?? id);
  if (tool.isPending) return <LoadingTool />;
  if (tool.isError) {
    return (
      <ErrorState
        level={1}
        error={tool.error}
        what="This tool can't be shown"
        onRetry={() => void tool.refetch()}
        elsewhere={<ButtonLink to="/">To the tools</ButtonLink>}
        className="py-24"
      />
    );
  }
  // A new tool begins with a fresh form.
  return <Loaded key={id} tool={tool.data} />;
}

function Loaded({ tool }: { tool: Tool }) {
  const { tab = "run" } = route.useSearch();
  const navigate = route.useNavigate();
  const usage = useQuery(usageQuery(tool.id));
  const calls = statsByTool(usage.data ?? []).get(tool.id)?.calls ?? 0;
  return (
    <>
      <nav aria-label="Where this is" className="mb-3 flex items-center gap-1.5 text-sm text-ink-3">
        <Link to="/" className="rounded-sm hover:text-ink hover:underline">
          Tools
        </Link>
        <ChevronRight aria-hidden className="size-3.5" />
        <Link to="/" search={{ category: tool.category }} className="rounded-sm hover:text-ink hover:underline">
          {humanWord(tool.category)}
        </Link>
      </nav>
      <div className="mb-6 flex flex-wrap items-start justify-between gap-4">
        <div className="flex min-w-0 gap-4">
          <ToolIcon icon={tool.icon} large />
          <div className="min-w-0">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
              <h1 className="min-w-0 text-2xl font-semibold tracking-tight">{tool.title}</h1>
              <span className="flex flex-wrap gap-1.5">
                <EffectBadge effect={tool.effect} />
                <EgressBadge egress={tool.egress} />
                <OriginBadge id={tool.id} />
                {tool.requires_approval ? <ApprovalBadge /> : null}
              </span>
            </div>
            <Description text={tool.description} />
          </div>
        </div>
        <CopyMenu tool={tool.id} />
      </div>
      <Tabs
        label="About this tool"
        value={tab}
        onChange={(next) =>
          void navigate({ search: (before) => ({ ...before, tab: next === "run" ? undefined : (next as ToolTab) }), resetScroll: false })
        }
        tabs={[
          { value: "run", title: "Run" },
          { value: "history", title: "History", count: calls > 0 ? formatCount(calls) : undefined },
          { value: "schema", title: "Schema" },
          { value: "access", title: "Access" },
          { value: "usage", title: "Usage" },
        ]}
      >
        <TabPanel value="run">
          <RunTab tool={tool} />
        </TabPanel>
        <Suspense fallback={<Skeleton className="mt-6 h-64 rounded-xl" />}>
          <TabPanel value="history">
            <HistoryTab tool={tool.id} />
          </TabPanel>
          <TabPanel value="schema">
            <SchemaTab tool={tool} />
          </TabPanel>
          <TabPanel value="access">
            <AccessTab tool={tool} />
          </TabPanel>
          <TabPanel value="usage">
            <UsageTab tool={tool.id} />
          </TabPanel>
        </Suspense>
      </Tabs>
    </>
  );
}

/** Descriptions are instructions for models, and long: people get the beginning and may ask for the rest. */
function Description({ text }: { text: string }) {
  const end = text.search(/[.!?](\s|$)/);
  const first = end > 0 && end < 240 ? text.slice(0, end + 1) : text.slice(0, 200);
  const rest = text.slice(first.length).trim();
  return (
    <div className="mt-1 max-w-[88ch] text-base text-ink-3">
      {rest === "" ? (
        <p>{first}</p>
      ) : (
        <details className="group">
          <summary className="list-none [&::-webkit-details-marker]:hidden">
            {first}{" "}
            <span className="whitespace-nowrap text-sm font-medium text-accent-ink group-open:hidden">More</span>
          </summary>
          <p className="mt-2 whitespace-pre-line text-sm">{rest}</p>
        </details>
      )}
    </div>
  );
}

function LoadingTool() {
  return (
    <Loading label="Loading the tool">
      <div className="flex gap-4 pt-8">
        <Skeleton className="size-12 rounded-xl" />
        <div className="flex-1 space-y-2">
          <Skeleton className="h-7 w-64" />
          <Skeleton className="h-4 w-96 max-w-full" />
        </div>
      </div>
      <div className="mt-20 grid gap-6 lg:grid-cols-[400px_minmax(0,1fr)]">
        <Skeleton className="h-96 rounded-xl" />
        <Skeleton className="h-64 rounded-xl" />
      </div>
    </Loading>
  );
}
