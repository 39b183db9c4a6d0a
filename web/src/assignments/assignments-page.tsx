import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Boxes, Plus, UserCog, Wrench, X } from "lucide-react";

import { Requester } from "@/approvals/requester";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Listing, nameColumn, personColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { principalName } from "@/lib/format";

import { AssignmentDrawer } from "./assignment-drawer";
import { type Assignment, assignmentKey, assignmentsQuery } from "./queries";

const route = getRouteApi("/shell/assignments");

const columns: Column<Assignment>[] = [
  {
    key: "what",
    className: nameColumn,
    title: "Has",
    sort: (one) => one.tool ?? one.toolset ?? "",
    cell: (one) => (
      <Link from="/assignments" to="." search={(before) => ({ ...before, id: assignmentKey(one) })} className={rowNameLook}>
        {one.tool ?? one.toolset}
      </Link>
    ),
  },
  { key: "kind", title: "Kind", cell: (one) => (one.tool ? <Badge icon={Wrench}>Tool</Badge> : <Badge icon={Boxes}>Toolset</Badge>) },
  { key: "agent", className: personColumn, title: "Who", sort: (one) => one.agent, cell: (one) => <Requester actor={one.agent} /> },
  {
    key: "profile",
    title: "Profile",
    sort: (one) => one.profile ?? "",
    cell: (one) => (one.profile ? <code className="font-mono text-xs">{one.profile}</code> : <span className="text-ink-3">None</span>),
  },
  {
    key: "by",
    className: wideOnly,
    title: "Given",
    sort: (one) => one.updated_at,
    cell: (one) => (
      <span className="whitespace-nowrap">
        {principalName(one.updated_by).name} <RelativeTime at={one.updated_at} className="text-ink-3" />
      </span>
    ),
  },
];

/** Which agents have which tools. */
export function AssignmentsPage() {
  const { agent, id, add } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(assignmentsQuery(agent));
  const rows = list.data?.pages.flatMap((page) => page.assignments) ?? [];
  const open = rows.find((one) => assignmentKey(one) === id);
  const close = () => void navigate({ search: (before) => ({ agent: before.agent }) });
  return (
    <>
      <PageHeader
        title="Assignments"
        description="An agent has only the tools it was given, one by one or by toolset. A profile can make their use stricter."
        action={
          <Button look="primary" onClick={() => void navigate({ search: (before) => ({ agent: before.agent, add: true }) })}>
            <Plus aria-hidden />
            Give tools
          </Button>
        }
      />
      {agent ? (
        <div className="mb-4 flex items-center gap-2 text-sm">
          <span className="text-ink-3">Tools of</span>
          <code className="break-all font-mono text-xs">{agent}</code>
          <Button look="quiet" size="icon-sm" aria-label="Show everyone’s" onClick={() => void navigate({ search: {} })}>
            <X aria-hidden />
          </Button>
        </div>
      ) : null}
      <Listing
        label="Assignments"
        what="the assignments"
        list={list}
        rows={rows}
        columns={columns}
        rowKey={assignmentKey}
        empty={
          <EmptyState icon={UserCog} title={agent ? "It has no tools" : "No agent has tools yet"}>
            Give an agent a tool or a toolset; until then every call it makes is refused.
          </EmptyState>
        }
      />
      {add ? <AssignmentDrawer assignment={null} agent={agent} onClose={close} /> : null}
      {open ? <AssignmentDrawer key={id} assignment={open} onClose={close} /> : null}
    </>
  );
}
