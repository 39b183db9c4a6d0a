import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { AppWindow } from "lucide-react";

import { api, unwrap } from "@/api/client";
import { Requester } from "@/approvals/requester";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { Listing, personColumn } from "@/components/ui/listing";
import { RelativeTime } from "@/components/ui/relative-time";
import { EmptyState, ErrorNote } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { toast } from "@/components/ui/toast";
import { clipped } from "@/lib/visible";

import { type OauthGrant, oauthGrantsQuery, scopeWords } from "./queries";

/** What people let applications do, each with the way to take it back. */
export function GrantList({ all }: { all: boolean }) {
  const client = useQueryClient();
  const grants = useInfiniteQuery(oauthGrantsQuery(all));
  const revoke = useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE("/api/v1/oauth/grants/{id}", { params: { path: { id } } })),
    onSuccess: () => toast("Taken back. Its tokens work no more."),
    onSettled: () => client.invalidateQueries({ queryKey: ["oauth", "grants"] }),
  });
  const columns: Column<OauthGrant>[] = [
    {
      key: "app",
      title: "Application",
      sort: (grant) => grant.client_name,
      cell: (grant) => (
        <>
          <span className="text-ink">{clipped(grant.client_name, 80)}</span>
          <span className="block break-all font-mono text-xs text-ink-3">{clipped(grant.client_id, 120)}</span>
        </>
      ),
    },
    ...(all ? [{ key: "who", className: personColumn, title: "Let in by", cell: (grant: OauthGrant) => <Requester actor={grant.principal} /> }] : []),
    { key: "may", title: "May", cell: (grant) => grant.scopes.map((scope) => scopeWords[scope] ?? scope).join(", ") },
    {
      key: "used",
      title: "Last used",
      cell: (grant) => (grant.last_used_at ? <RelativeTime at={grant.last_used_at} className="whitespace-nowrap" /> : <span className="text-ink-3">Never</span>),
    },
    { key: "ends", title: "Ends unused", cell: (grant) => <RelativeTime at={grant.expires_at} className="whitespace-nowrap" /> },
    {
      key: "revoke",
      title: <span className="sr-only">Take back</span>,
      className: "relative text-right",
      cell: (grant) => (
        <ConfirmButton size="sm" title="Take back…" sure="Yes, shut it out" disabled={revoke.isPending} onSure={() => revoke.mutate(grant.id)} />
      ),
    },
  ];
  return (
    <>
      {revoke.isError ? <ErrorNote error={revoke.error} className="mb-4" /> : null}
      <Listing
        label="Applications that were let in"
        what="what was let in"
        list={grants}
        rows={grants.data?.pages.flatMap((page) => page.grants) ?? []}
        columns={columns}
        rowKey={(grant) => grant.id}
        empty={
          <EmptyState icon={AppWindow} title="No application was let in">
            Connect one to this gate’s address; it brings you to a page that says what it asks for.
          </EmptyState>
        }
      />
    </>
  );
}
