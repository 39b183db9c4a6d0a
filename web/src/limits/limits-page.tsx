import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Gauge, Plus } from "lucide-react";

import { Button } from "@/components/ui/button";
import { Held } from "@/components/ui/document-drawer";
import { Words } from "@/components/ui/facts";
import { Listing, nameColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { clipped } from "@/lib/visible";

import { boundsWords } from "./bounds";
import { LimitDrawer, perWords } from "./limit-drawer";
import { type Limit, limitQuery, limitsQuery } from "./queries";

const route = getRouteApi("/shell/limits");

const columns: Column<Limit>[] = [
  {
    key: "name",
    className: nameColumn,
    title: "Limit",
    sort: (limit) => limit.name,
    cell: (limit) => (
      <>
        <Link to="/limits" search={{ id: limit.name }} className={rowNameLook}>
          {limit.name}
        </Link>
        {limit.description ? <span className="block text-xs text-ink-3">{clipped(limit.description, 80)}</span> : null}
      </>
    ),
  },
  { key: "most", title: "At most", cell: (limit) => boundsWords(limit) },
  { key: "per", className: wideOnly, title: "Counted", cell: (limit) => perWords[limit.per] ?? limit.per },
  { key: "who", title: "Whose calls", cell: (limit) => <Words words={limit.principals} none="Everyone’s" most={3} /> },
  { key: "tools", className: wideOnly, title: "Of which tools", cell: (limit) => <Words words={limit.tools} none="All" most={3} /> },
];

/** How often, how many at once and how dear. */
export function LimitsPage() {
  const { id, add } = route.useSearch();
  const navigate = route.useNavigate();
  const limits = useInfiniteQuery(limitsQuery);
  const close = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader
        title="Limits"
        description="How often tools may be called, how many calls may run at once, and what they may cost. Every limit that fits a call holds."
        action={
          <Button look="primary" onClick={() => void navigate({ search: { add: true } })}>
            <Plus aria-hidden />
            New limit
          </Button>
        }
      />
      <Listing
        label="Limits"
        what="the limits"
        list={limits}
        rows={limits.data?.pages.flatMap((page) => page.limits) ?? []}
        columns={columns}
        rowKey={(limit) => limit.name}
        empty={
          <EmptyState icon={Gauge} title="No limits yet">
            Calls are bounded by the server’s own settings only. A limit for all agents is a good first one.
          </EmptyState>
        }
      />
      {add ? <LimitDrawer limit={null} onClose={close} /> : null}
      {id ? (
        <Held key={id} query={limitQuery(id) as never} title={id} what="the limit" onClose={close}>
          {(limit: Limit, again) => <LimitDrawer limit={limit} onClose={close} again={again} />}
        </Held>
      ) : null}
    </>
  );
}
