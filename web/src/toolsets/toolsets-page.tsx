import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Boxes, List, Plus, Search } from "lucide-react";

import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Held } from "@/components/ui/document-drawer";
import { Words } from "@/components/ui/facts";
import { Listing, nameColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { clipped } from "@/lib/visible";

import { type Toolset, toolsetQuery, toolsetsQuery } from "./queries";
import { ToolsetDrawer } from "./toolset-drawer";

const route = getRouteApi("/shell/toolsets");

const columns: Column<Toolset>[] = [
  {
    key: "name",
    className: nameColumn,
    title: "Toolset",
    sort: (toolset) => toolset.name,
    cell: (toolset) => (
      <>
        <Link to="/toolsets" search={{ id: toolset.name }} className={rowNameLook}>
          {toolset.name}
        </Link>
        {toolset.title ? <span className="block text-xs text-ink-3">{clipped(toolset.title, 80)}</span> : null}
      </>
    ),
  },
  { key: "holds", title: "What it names", cell: (toolset) => <Words words={toolset.tools} none="Nothing" most={4} /> },
  { key: "mode", className: wideOnly, title: "For MCP clients", cell: (toolset) => <ModeBadge mode={toolset.mode} /> },
  { key: "count", title: "Tools now", numeric: true, sort: (toolset) => toolset.tool_count, cell: (toolset) => toolset.tool_count },
];

function ModeBadge({ mode }: { mode: string }) {
  return mode === "search" ? <Badge icon={Search}>Found by search</Badge> : <Badge icon={List}>All listed</Badge>;
}

/** Named selections of tools. */
export function ToolsetsPage() {
  const { id, add } = route.useSearch();
  const navigate = route.useNavigate();
  const toolsets = useInfiniteQuery(toolsetsQuery);
  const close = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader
        title="Toolsets"
        description="Named selections of tools. Agents get them whole, and MCP clients reach each at an address of its own."
        action={
          <Button look="primary" onClick={() => void navigate({ search: { add: true } })}>
            <Plus aria-hidden />
            New toolset
          </Button>
        }
      />
      <Listing
        label="Toolsets"
        what="the toolsets"
        list={toolsets}
        rows={toolsets.data?.pages.flatMap((page) => page.toolsets) ?? []}
        columns={columns}
        rowKey={(toolset) => toolset.name}
        empty={
          <EmptyState icon={Boxes} title="No toolset yet">
            Name tools that belong together, such as everything that reads from one system, and give them to agents at once.
          </EmptyState>
        }
      />
      {add ? <ToolsetDrawer toolset={null} onClose={close} /> : null}
      {id ? (
        <Held key={id} query={toolsetQuery(id) as never} title={id} what="the toolset" onClose={close}>
          {(toolset: Toolset, again) => <ToolsetDrawer toolset={toolset} onClose={close} again={again} />}
        </Held>
      ) : null}
    </>
  );
}
