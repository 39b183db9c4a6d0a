import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { GitCommitVertical } from "lucide-react";

import { ButtonLink } from "@/components/ui/button-link";
import { Listing, rowNameLook } from "@/components/ui/listing";
import { RelativeTime } from "@/components/ui/relative-time";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { principalName } from "@/lib/format";
import { clipped } from "@/lib/visible";

import { type PolicyVersion, policyVersionsQuery } from "./queries";
import { VersionDrawer } from "./version-drawer";

const route = getRouteApi("/shell/policy");

const columns: Column<PolicyVersion>[] = [
  {
    key: "version",
    title: "Version",
    cell: (one) => (
      <Link from="/policy" to="." search={(before) => ({ ...before, version: one.version })} className={rowNameLook}>
        {one.version}
      </Link>
    ),
  },
  {
    key: "note",
    title: "Why",
    cell: (one) => (one.note ? <span className="line-clamp-2 max-w-[60ch]">{clipped(one.note, 200)}</span> : <span className="text-ink-3">Nothing said</span>),
  },
  { key: "by", title: "Saved by", cell: (one) => principalName(one.saved_by).name },
  { key: "at", title: "When", cell: (one) => <RelativeTime at={one.saved_at} className="whitespace-nowrap" /> },
];

/** Every text that was ever in force. */
export function VersionsTab() {
  const { version } = route.useSearch();
  const navigate = route.useNavigate();
  const versions = useInfiniteQuery(policyVersionsQuery);
  const rows = versions.data?.pages.flatMap((page) => page.versions) ?? [];
  return (
    <>
      <Listing
        label="Versions of the policies"
        what="the versions"
        list={versions}
        rows={rows}
        columns={columns}
        rowKey={(one) => String(one.version)}
        empty={
          <EmptyState
            icon={GitCommitVertical}
            title="Never changed"
            action={<ButtonLink to="/policy">To the text</ButtonLink>}
          >
            The policies are those every tenant starts with. Each saved text becomes a version, and you can go back to any of them.
          </EmptyState>
        }
      />
      {version !== undefined ? (
        <VersionDrawer key={version} version={version} onClose={() => void navigate({ search: (before) => ({ ...before, version: undefined }) })} />
      ) : null}
    </>
  );
}
