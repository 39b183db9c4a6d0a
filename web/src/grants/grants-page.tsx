import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { KeyRound } from "lucide-react";

import { Requester } from "@/approvals/requester";
import { Button } from "@/components/ui/button";
import { ButtonLink } from "@/components/ui/button-link";
import { Card } from "@/components/ui/card";
import { PageHeader } from "@/components/ui/page-header";
import { LoadingRows } from "@/components/ui/skeleton";
import { EmptyState, ErrorState } from "@/components/ui/states";
import { type Column, Table } from "@/components/ui/table";
import { principalName } from "@/lib/format";

import { Ends } from "./ends";
import { GrantDrawer } from "./grant-drawer";
import { coverage, type Grant, grantsQuery, timesUsed } from "./queries";

const route = getRouteApi("/shell/grants");

const columns: Column<Grant>[] = [
  {
    key: "tool",
    title: "Tool",
    sort: (grant) => grant.tool,
    cell: (grant) => (
      <Link
        to="/grants"
        search={{ id: grant.name }}
        className="break-all font-mono text-xs text-ink outline-offset-[-2px] after:absolute after:inset-0"
      >
        {grant.tool}
      </Link>
    ),
  },
  {
    key: "whose",
    title: "Whose calls",
    sort: (grant) => grant.actor,
    cell: (grant) => <Requester actor={grant.actor} subject={grant.subject} className="text-sm" />,
  },
  {
    key: "which",
    title: "Which",
    cell: (grant) => (
      <span className="line-clamp-2 max-w-[36ch] break-words">
        {coverage(grant)}
        {grant.session_id ? ", in one session" : ""}
      </span>
    ),
  },
  { key: "used", title: "Used", numeric: true, sort: (grant) => grant.used ?? 0, cell: (grant) => <span className="whitespace-nowrap">{timesUsed(grant)}</span> },
  { key: "by", title: "Given by", sort: (grant) => grant.by, cell: (grant) => principalName(grant.by).name },
  { key: "ends", title: "Ends", sort: (grant) => grant.expires_at, cell: (grant) => <Ends at={grant.expires_at} /> },
];

/** What people let run from now on, and the way to take it back. */
export function GrantsPage() {
  const { id } = route.useSearch();
  const navigate = route.useNavigate();
  const grants = useInfiniteQuery(grantsQuery);
  const rows = grants.data?.pages.flatMap((page) => page.grants) ?? [];
  return (
    <>
      <PageHeader
        title="Standing grants"
        description="What people let run without asking again. Each names a tool, a caller, what it covers and when it ends."
      />
      <Card className="overflow-hidden">
        {grants.isPending ? (
          <LoadingRows label="Loading the grants" />
        ) : grants.isError ? (
          <ErrorState error={grants.error} what="The grants could not be loaded" onRetry={() => void grants.refetch()} />
        ) : rows.length === 0 ? (
          <EmptyState
            icon={KeyRound}
            title="There are no standing grants"
            action={<ButtonLink to="/approvals">To the approvals</ButtonLink>}
          >
            Choose “Remember…” when you approve a call, and it is kept here until it ends or you take it back.
          </EmptyState>
        ) : (
          <Table label="Standing grants" columns={columns} rows={rows} rowKey={(grant) => grant.name} />
        )}
      </Card>
      {grants.hasNextPage ? (
        <Button className="mt-4" disabled={grants.isFetchingNextPage} onClick={() => void grants.fetchNextPage()}>
          Show more
        </Button>
      ) : null}
      {id ? <GrantDrawer key={id} name={id} onClose={() => void navigate({ search: { id: undefined } })} /> : null}
    </>
  );
}
