import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ClipboardCheck, Plug, Plus, Wrench } from "lucide-react";

import { sentence } from "@/api/error";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Held } from "@/components/ui/document-drawer";
import { nameColumn, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { Said } from "@/components/ui/said";
import { LoadingRows } from "@/components/ui/skeleton";
import { EffectBadge, EgressBadge } from "@/components/ui/state-badges";
import { EmptyState, ErrorState } from "@/components/ui/states";
import { type Column, Table } from "@/components/ui/table";
import { TabPanel, Tabs } from "@/components/ui/tabs";
import { clipped } from "@/lib/visible";

import { AddUpstream } from "./add-upstream";
import { ChangeUpstream } from "./change-upstream";
import { reachedBy, type ToolState, type Upstream, type UpstreamTool, upstreamQuery, upstreamsQuery, upstreamToolsQuery } from "./queries";
import { ReviewDrawer } from "./review-drawer";
import { UpstreamDrawer } from "./upstream-drawer";
import { HealthBadge, ToolStateBadge } from "./words";

const route = getRouteApi("/shell/upstreams");
const nameLook = "break-all font-mono text-xs text-ink outline-offset-[-2px] after:absolute after:inset-0";

const serverColumns: Column<Upstream>[] = [
  {
    key: "name",
    className: nameColumn,
    title: "Server",
    sort: (server) => server.name,
    cell: (server) => (
      <>
        <Link from="/upstreams" to="." search={(before) => ({ ...before, server: server.name })} className={nameLook}>
          {server.name}
        </Link>
        {server.title ? <span className="block text-xs text-ink-3">{clipped(server.title, 80)}</span> : null}
      </>
    ),
  },
  { key: "state", title: "State", cell: (server) => <HealthBadge upstream={server} /> },
  {
    key: "reached",
    className: wideOnly,
    title: "Reached by",
    cell: (server) => <code className="line-clamp-1 max-w-[42ch] break-all font-mono text-xs">{reachedBy(server)}</code>,
  },
  { key: "accepted", title: "Tools on", numeric: true, sort: (server) => server.tools.accepted ?? 0, cell: (server) => server.tools.accepted ?? 0 },
  {
    key: "review",
    title: "To review",
    numeric: true,
    sort: (server) => (server.tools.new ?? 0) + (server.tools.changed ?? 0),
    cell: (server) => (server.tools.new ?? 0) + (server.tools.changed ?? 0),
  },
];

const toolColumns: Column<UpstreamTool>[] = [
  {
    key: "id",
    className: nameColumn,
    title: "Tool",
    cell: (tool) => (
      <Link from="/upstreams" to="." search={(before) => ({ ...before, tool: tool.id })} className={nameLook}>
        {tool.id}
      </Link>
    ),
  },
  { key: "state", title: "State", cell: (tool) => <ToolStateBadge state={tool.state} /> },
  {
    key: "decision",
    className: wideOnly,
    title: "Decided",
    cell: (tool) =>
      tool.decision ? (
        <span className="flex flex-wrap gap-1.5">
          <EffectBadge effect={tool.decision.effect} />
          <EgressBadge egress={tool.decision.egress} />
        </span>
      ) : (
        <span className="text-ink-3">Nothing yet</span>
      ),
  },
  {
    key: "warnings",
    title: "To note",
    cell: (tool) =>
      tool.warnings.length > 0 ? (
        <span className="line-clamp-2 max-w-[44ch] text-warn-ink">
          <Said text={clipped(sentence(tool.warnings[0]!), 120)} />
          {tool.warnings.length > 1 ? ` And ${tool.warnings.length - 1} more.` : null}
        </span>
      ) : (
        <span className="text-ink-3">Nothing</span>
      ),
  },
];

/** MCP servers that the gate calls, and the review of what they offer. */
export function UpstreamsPage() {
  const { tab = "servers", server, tool, add, edit } = route.useSearch();
  const navigate = route.useNavigate();
  const servers = useQuery(upstreamsQuery);
  const waiting = servers.data?.reduce((sum, one) => sum + (one.tools.new ?? 0) + (one.tools.changed ?? 0), 0);
  const close = () => void navigate({ search: (before) => ({ ...before, server: undefined, tool: undefined, add: undefined, edit: undefined }) });
  const closeForm = () => void navigate({ search: (before) => ({ ...before, edit: undefined }) });
  return (
    <>
      <PageHeader
        title="MCP servers"
        description="Servers whose tools the gate offers. Nothing of theirs is on before someone here has looked at it, and what changes is held."
        action={
          <Button look="primary" onClick={() => void navigate({ search: (before) => ({ ...before, add: true }) })}>
            <Plus aria-hidden />
            Add a server
          </Button>
        }
      />
      <Tabs
        label="What to show"
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next === "servers" ? undefined : (next as "review") } })}
        tabs={[
          { value: "servers", title: "Servers", count: servers.data?.length },
          { value: "review", title: "To review", count: waiting },
          { value: "tools", title: "All tools" },
        ]}
      >
        <TabPanel value="servers">
          <Card className="overflow-hidden">
            {servers.isPending ? (
              <LoadingRows label="Loading the servers" />
            ) : servers.isError ? (
              <ErrorState error={servers.error} what="The servers could not be loaded" onRetry={() => void servers.refetch()} />
            ) : servers.data.length === 0 ? (
              <EmptyState icon={Plug} title="No MCP server yet">
                Add one by its address, or as a program on the gate’s machine. Its tools then wait here for review.
              </EmptyState>
            ) : (
              <Table label="MCP servers" columns={serverColumns} rows={servers.data} rowKey={(one) => one.name} />
            )}
          </Card>
        </TabPanel>
        <TabPanel value="review">
          <Card className="overflow-hidden">
            <ToolList states={["changed", "new"]} />
          </Card>
        </TabPanel>
        <TabPanel value="tools">
          <Card className="overflow-hidden">
            <ToolList states={[undefined]} />
          </Card>
        </TabPanel>
      </Tabs>
      {add ? <AddUpstream onClose={close} /> : null}
      {server && edit ? (
        <Held key={server} query={upstreamQuery(server) as never} title={server} what="the server" onClose={closeForm}>
          {(upstream: Upstream, again) => <ChangeUpstream upstream={upstream} onClose={closeForm} again={again} />}
        </Held>
      ) : server ? (
        <UpstreamDrawer key={server} name={server} onClose={close} />
      ) : null}
      {tool ? <ReviewDrawer key={tool} id={tool} onClose={close} /> : null}
    </>
  );
}

function ToolList({ states }: { states: [ToolState, ToolState] | [undefined] }) {
  const first = useInfiniteQuery(upstreamToolsQuery(states[0]));
  const second = useInfiniteQuery({ ...upstreamToolsQuery(states[1]), enabled: states.length === 2 });
  const lists = states.length === 2 ? [first, second] : [first];
  const failed = lists.find((list) => list.isError);
  if (failed) return <ErrorState error={failed.error} what="The tools could not be loaded" onRetry={() => void failed.refetch()} />;
  if (lists.some((list) => list.isPending)) return <LoadingRows label="Loading the tools" />;
  const rows = lists.flatMap((list) => list.data?.pages.flatMap((page) => page.upstream_tools) ?? []);
  if (rows.length === 0)
    return states.length === 2 ? (
      <EmptyState icon={ClipboardCheck} title="Nothing waits for review">
        New and changed tools of MCP servers stand here until someone has accepted or refused them.
      </EmptyState>
    ) : (
      <EmptyState icon={Wrench} title="No tools yet">
        Add a server first; what it offers is listed here.
      </EmptyState>
    );
  const more = lists.find((list) => list.hasNextPage);
  return (
    <>
      <Table label="Tools of MCP servers" columns={toolColumns} rows={rows} rowKey={(tool) => tool.id} />
      {more ? (
        <div className="border-t border-line p-3">
          <Button disabled={more.isFetchingNextPage} onClick={() => void more.fetchNextPage()}>
            Show more
          </Button>
        </div>
      ) : null}
    </>
  );
}
