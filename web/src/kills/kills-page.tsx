import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { OctagonX, Power } from "lucide-react";

import { api, unwrap } from "@/api/client";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { Listing, nameColumn, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { EmptyState, ErrorNote } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { toast } from "@/components/ui/toast";
import { principalName } from "@/lib/format";
import { clipped } from "@/lib/visible";

import { type Kill, killsQuery, killWords } from "./queries";
import { ThrowKill } from "./throw-kill";

const route = getRouteApi("/shell/kills");

/** What is stopped at once, whatever policy says. */
export function KillsPage() {
  const { add, kind, target } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const kills = useInfiniteQuery(killsQuery);
  const lift = useMutation({
    mutationFn: (kill: Kill) =>
      unwrap(
        api.DELETE("/api/v1/kills", {
          params: { query: { kind: kill.kind, target: kill.kind === "tenant" ? undefined : kill.target } },
        }),
      ),
    onSuccess: () => toast("Lifted. It can be called again."),
    onSettled: () => client.invalidateQueries({ queryKey: ["kills"] }),
  });
  const columns: Column<Kill>[] = [
    {
      key: "what",
      className: nameColumn,
      title: "Stopped",
      cell: (kill) => (
        <span className="flex flex-wrap items-center gap-2">
          <Badge tone="danger" icon={OctagonX}>
            {killWords[kill.kind] ?? kill.kind}
          </Badge>
          <code className="break-all font-mono text-xs text-ink">{clipped(kill.target, 160)}</code>
        </span>
      ),
    },
    { key: "why", title: "Why", cell: (kill) => <span className="line-clamp-3 max-w-[48ch] break-words">{clipped(kill.reason, 300)}</span> },
    {
      key: "by",
      className: wideOnly,
      title: "By",
      cell: (kill) => (
        <span className="whitespace-nowrap">
          {principalName(kill.by).name} <RelativeTime at={kill.at} className="text-ink-3" />
        </span>
      ),
    },
    {
      key: "lift",
      title: <span className="sr-only">Lift</span>,
      className: "relative text-right",
      cell: (kill) => (
        <ConfirmButton size="sm" title="Lift…" sure="Yes, let calls run again" disabled={lift.isPending} onSure={() => lift.mutate(kill)} />
      ),
    },
  ];
  return (
    <>
      <PageHeader
        title="Kill switches"
        description="What is named here is refused at once, on every node, whatever policy says. Managing goes on."
        action={
          <Button look="danger" onClick={() => void navigate({ search: { add: true } })}>
            <Power aria-hidden />
            Stop something…
          </Button>
        }
      />
      {lift.isError ? <ErrorNote error={lift.error} className="mb-4" /> : null}
      <Listing
        label="Thrown switches"
        what="the switches"
        list={kills}
        rows={kills.data?.pages.flatMap((page) => page.kills) ?? []}
        columns={columns}
        rowKey={(kill) => `${kill.kind} ${kill.target}`}
        empty={
          <EmptyState icon={Power} title="Nothing is stopped">
            When a tool, a person, an agent or a connection has to be stopped this moment, stop it here.
          </EmptyState>
        }
      />
      {add ? <ThrowKill kind={kind} target={target} onClose={() => void navigate({ search: {} })} /> : null}
    </>
  );
}
