import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { AppWindow, Lock, LockOpen, Plus } from "lucide-react";

import { useHolds } from "@/api/queries";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Words } from "@/components/ui/facts";
import { Listing, nameColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { TabPanel, Tabs } from "@/components/ui/tabs";
import { principalName } from "@/lib/format";
import { clipped } from "@/lib/visible";

import { ClientDrawer } from "./client-drawer";
import { GrantList } from "./grant-list";
import { NewClient } from "./new-client";
import { type OauthClient, oauthClientsQuery } from "./queries";

const route = getRouteApi("/shell/applications");

const columns: Column<OauthClient>[] = [
  {
    key: "id",
    className: nameColumn,
    title: "Application",
    sort: (one) => one.id,
    cell: (one) => (
      <>
        <Link from="/applications" to="." search={(before) => ({ ...before, id: one.id })} className={rowNameLook}>
          {one.id}
        </Link>
        <span className="block text-xs text-ink-3">{clipped(one.name, 80)}</span>
      </>
    ),
  },
  {
    key: "secret",
    title: "Proves who it is",
    cell: (one) => (one.confidential ? <Badge icon={Lock}>By a secret</Badge> : <Badge icon={LockOpen}>By PKCE alone</Badge>),
  },
  { key: "scopes", title: "May ask for", cell: (one) => <Words words={one.scopes} none="Everything there is" /> },
  {
    key: "by",
    className: wideOnly,
    title: "Named",
    cell: (one) => (
      <span className="whitespace-nowrap">
        {principalName(one.created_by).name} <RelativeTime at={one.created_at} className="text-ink-3" />
      </span>
    ),
  },
];

/** Applications that people let in by OAuth, and taking that back. */
export function ApplicationsPage() {
  const { tab = "mine", id, add } = route.useSearch();
  const navigate = route.useNavigate();
  const manages = useHolds("*");
  const clients = useInfiniteQuery({ ...oauthClientsQuery, enabled: manages });
  const rows = clients.data?.pages.flatMap((page) => page.clients) ?? [];
  const open = rows.find((one) => one.id === id);
  const close = () => void navigate({ search: (before) => ({ tab: before.tab }) });
  return (
    <>
      <PageHeader
        title="Applications"
        description="Programs that people let in: they call tools in that person’s name, as far as was agreed."
        action={
          manages ? (
            <Button look="primary" onClick={() => void navigate({ search: { tab: "named", add: true } })}>
              <Plus aria-hidden />
              Name an application
            </Button>
          ) : undefined
        }
      />
      <Tabs
        label="What to show"
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next === "mine" ? undefined : (next as "all") } })}
        tabs={[
          { value: "mine", title: "Let in by me" },
          ...(manages
            ? [
                { value: "all", title: "Let in by anyone" },
                { value: "named", title: "Named here", count: clients.data ? rows.length : undefined },
              ]
            : []),
        ]}
      >
        <TabPanel value="mine">
          <GrantList all={false} />
        </TabPanel>
        <TabPanel value="all">
          <GrantList all />
        </TabPanel>
        <TabPanel value="named">
          <Listing
            label="Applications"
            what="the applications"
            list={clients}
            rows={rows}
            columns={columns}
            rowKey={(one) => one.id}
            empty={
              <EmptyState icon={AppWindow} title="No application was named">
                Most name themselves when someone connects them. Name one here where it needs a fixed client id, or a secret.
              </EmptyState>
            }
          />
        </TabPanel>
      </Tabs>
      {add ? <NewClient onClose={close} /> : null}
      {open ? <ClientDrawer key={open.id} client={open} onClose={close} /> : null}
    </>
  );
}
