import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Ban, CircleCheck, Clock, KeySquare, LogIn, Plus } from "lucide-react";

import { signInQuery } from "@/api/queries";
import { Requester } from "@/approvals/requester";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Listing, nameColumn, personColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";

import { ConnectionDrawer } from "./connection-drawer";
import { NewConnection } from "./new-connection";
import { type Connection, connectionsQuery, kindWords } from "./queries";

const route = getRouteApi("/shell/connections");

/** Whether a connection works. */
export function ConnectionBadge({ state }: { state: string }) {
  if (state === "ok") return <Badge tone="ok" icon={CircleCheck}>Works</Badge>;
  if (state === "expired") return <Badge icon={Clock}>Renewed at next use</Badge>;
  if (state === "needs_login") return <Badge tone="warn" icon={LogIn}>Connect again</Badge>;
  return <Badge tone="danger" icon={Ban}>Revoked</Badge>;
}

const columns: Column<Connection>[] = [
  {
    key: "service",
    className: nameColumn,
    title: "Service",
    sort: (one) => one.service,
    cell: (one) => (
      <Link to="/connections" search={{ id: one.id }} className={rowNameLook}>
        {one.service}
      </Link>
    ),
  },
  { key: "whose", className: personColumn, title: "Used for", sort: (one) => one.owner, cell: (one) => (one.owner === "shared" ? "Everyone" : <Requester actor={one.owner} />) },
  { key: "kind", className: wideOnly, title: "Opened by", cell: (one) => kindWords[one.kind] ?? one.kind },
  { key: "state", title: "State", sort: (one) => one.state, cell: (one) => <ConnectionBadge state={one.state} /> },
  {
    key: "used",
    className: wideOnly,
    title: "Last used",
    sort: (one) => one.last_used_at ?? "",
    cell: (one) => (one.last_used_at ? <RelativeTime at={one.last_used_at} className="whitespace-nowrap" /> : <span className="text-ink-3">Never</span>),
  },
];

/** Accounts at other services. What opens them is never shown again. */
export function ConnectionsPage() {
  const { id, add, service } = route.useSearch();
  const navigate = route.useNavigate();
  const me = useQuery(signInQuery);
  const list = useInfiniteQuery(connectionsQuery);
  const rows = list.data?.pages.flatMap((page) => page.connections) ?? [];
  const open = rows.find((one) => one.id === id);
  const close = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader
        title="Connections"
        description="Accounts at services that tools work with. A token or a login is kept sealed, sent to that service only, and never shown again."
        action={
          <Button look="primary" onClick={() => void navigate({ search: { add: true } })}>
            <Plus aria-hidden />
            Connect
          </Button>
        }
      />
      <Listing
        label="Connections"
        what="the connections"
        list={list}
        rows={rows}
        columns={columns}
        rowKey={(one) => one.id}
        empty={
          <EmptyState icon={KeySquare} title="Nothing is connected yet">
            MCP servers that need an account find it here: log in at the service, or give a token.
          </EmptyState>
        }
      />
      {add ? (
        id === undefined || open ? <NewConnection service={service} before={open} onClose={close} /> : null
      ) : open ? (
        <ConnectionDrawer key={open.id} connection={open} me={me.data?.principal} onClose={close} />
      ) : null}
    </>
  );
}
