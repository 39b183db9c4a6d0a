import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link2 } from "lucide-react";

import { api, unwrap } from "@/api/client";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { Listing, nameColumn, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { EmptyState, ErrorNote } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { toast } from "@/components/ui/toast";

import { type TenantLink, tenantLinksQuery } from "./queries";

/** Which of this tenant's users come and go from others. */
export function TenantLinksPage() {
  const client = useQueryClient();
  const links = useInfiniteQuery(tenantLinksQuery);
  const end = useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE("/api/v1/tenant-links/{id}", { params: { path: { id } } })),
    onSuccess: () => toast("Ended. Whoever came in by it is out."),
    onSettled: () => client.invalidateQueries({ queryKey: ["tenants"] }),
  });
  const columns: Column<TenantLink>[] = [
    {
      key: "principal",
      className: nameColumn,
      title: "User",
      sort: (link) => link.principal,
      cell: (link) => <span className="break-all font-mono text-xs">{link.principal}</span>,
    },
    { key: "other", title: "Linked with", sort: (link) => link.other_tenant, cell: (link) => <span className="font-mono text-xs">{link.other_tenant}</span> },
    { key: "proof", className: wideOnly, title: "Proved by", cell: (link) => link.proof },
    { key: "made", className: wideOnly, title: "Since", sort: (link) => link.made_at, cell: (link) => <RelativeTime at={link.made_at} className="whitespace-nowrap" /> },
    {
      key: "end",
      title: "Action",
      cell: (link) => <ConfirmButton size="sm" title="End…" sure="Yes, end it" disabled={end.isPending} onSure={() => end.mutate(link.id)} />,
    },
  ];
  return (
    <>
      <PageHeader
        title="Links to other tenants"
        description="People who proved to be a user here and one elsewhere. They come and go without signing in again, for as long as both sides let them."
      />
      {end.isError ? <ErrorNote error={end.error} className="mb-4" /> : null}
      <Listing
        label="Links"
        what="the links"
        list={links}
        rows={links.data?.pages.flatMap((page) => page.links) ?? []}
        columns={columns}
        rowKey={(link) => link.id}
        empty={
          <EmptyState icon={Link2} title="Nobody is linked">
            People link themselves, by signing in to both. You can end it here.
          </EmptyState>
        }
      />
    </>
  );
}
