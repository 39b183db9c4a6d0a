import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { CircleCheck, CirclePause, ListChecks } from "lucide-react";
import { useDeferredValue, useMemo } from "react";

import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { SearchInput } from "@/components/ui/input";
import { nameColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { LongTable } from "@/components/ui/long-table";
import { PageHeader } from "@/components/ui/page-header";
import { Segmented } from "@/components/ui/segmented";
import { LoadingRows } from "@/components/ui/skeleton";
import { ApprovalBadge, EffectBadge, EgressBadge } from "@/components/ui/state-badges";
import { EmptyState, ErrorState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { counted } from "@/lib/format";
import { useTyped } from "@/lib/typed";
import { clipped } from "@/lib/visible";

import { enablementWords, type RegistryTool, registryQuery } from "./queries";
import { RegistryDrawer } from "./registry-drawer";

const route = getRouteApi("/shell/registry");

const columns: Column<RegistryTool>[] = [
  {
    key: "tool",
    className: nameColumn,
    title: "Tool",
    sort: (tool) => tool.id,
    cell: (tool) => (
      <>
        <Link from="/registry" to="." search={(before) => ({ ...before, id: tool.id })} className={rowNameLook}>
          {tool.id}
        </Link>
        <span className="block text-xs text-ink-3">{clipped(tool.title, 80)}</span>
      </>
    ),
  },
  {
    key: "on",
    title: "Here",
    sort: (tool) => (tool.enabled ? 0 : 1),
    cell: (tool) => (
      <Badge tone={tool.enabled ? "ok" : "neutral"} icon={tool.enabled ? CircleCheck : CirclePause}>
        {tool.enabled ? "On" : "Off"}
      </Badge>
    ),
  },
  { key: "why", className: wideOnly, title: "Why", cell: (tool) => <span className="whitespace-nowrap">{enablementWords[tool.enablement] ?? tool.enablement}</span> },
  {
    key: "does",
    title: "What it does",
    cell: (tool) => (
      <span className="flex flex-wrap gap-1.5">
        <EffectBadge effect={tool.effect} />
        <EgressBadge egress={tool.egress} />
        {tool.requires_approval ? <ApprovalBadge /> : null}
      </span>
    ),
  },
];

/** Every tool of the server, and which of them this tenant has. */
export function RegistryPage() {
  const { id, q = "", show } = route.useSearch();
  const navigate = route.useNavigate();
  const tools = useQuery(registryQuery);
  // What is typed is shown at once; the list and the address follow.
  const [text, setText] = useTyped(q, (next) =>
    void navigate({ search: (before) => ({ ...before, q: next || undefined }), replace: true, resetScroll: false }),
  );
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const found = useMemo(
    () =>
      (tools.data ?? []).filter(
        (tool) =>
          (show === undefined || tool.enabled === (show === "on")) &&
          (wanted === "" || tool.id.includes(wanted) || tool.title.toLowerCase().includes(wanted)),
      ),
    [tools.data, show, wanted],
  );
  // Whoever opens a drawer looks at the same rows: they are not drawn again for it.
  const table = useMemo(() => <LongTable label="Tools of the server" columns={columns} rows={found} rowKey={(tool) => tool.id} />, [found]);
  return (
    <>
      <PageHeader
        title="Registry"
        description="Every tool this server has. A tool that is off here is absent for everyone in your tenant; a tool that always asks waits for a person whatever policy says."
      />
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <SearchInput
          label="Search tools"
          placeholder="Search by id or title"
          className="w-72 max-sm:w-full"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Segmented
          name="registry-show"
          label="Which tools"
          value={show ?? "all"}
          onChange={(next) =>
            void navigate({ search: (before) => ({ ...before, show: next === "all" ? undefined : (next as "on") }), replace: true })
          }
          options={[
            { value: "all", title: "All" },
            { value: "on", title: "On" },
            { value: "off", title: "Off" },
          ]}
        />
        <span role="status" className="text-xs text-ink-3">
          {tools.data ? counted(found.length, "tool") : ""}
        </span>
      </div>
      <Card className="overflow-hidden">
        {tools.isPending ? (
          <LoadingRows label="Loading the tools" rows={8} />
        ) : tools.isError ? (
          <ErrorState error={tools.error} what="The tools could not be loaded" onRetry={() => void tools.refetch()} />
        ) : found.length === 0 ? (
          <EmptyState
            icon={ListChecks}
            title="No tool fits"
            action={
              <Button
                onClick={() => {
                  setText("");
                  void navigate({ search: {}, replace: true });
                }}
              >
                Show all
              </Button>
            }
          >
            Nothing here has that name and state.
          </EmptyState>
        ) : (
          table
        )}
      </Card>
      {id ? <RegistryDrawer key={id} id={id} onClose={() => void navigate({ search: (before) => ({ ...before, id: undefined }) })} /> : null}
    </>
  );
}
