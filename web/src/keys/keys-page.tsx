import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Ban, CircleCheck, KeyRound, Plus, TimerOff, X } from "lucide-react";

import { Requester } from "@/approvals/requester";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Words } from "@/components/ui/facts";
import { Listing, nameColumn, personColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { clipped } from "@/lib/visible";

import { KeyDrawer } from "./key-drawer";
import { NewKey } from "./new-key";
import { type Key, keysQuery } from "./queries";

const route = getRouteApi("/shell/keys");

/** Whether a key works. */
export function KeyBadge({ status }: { status: string }) {
  if (status === "active") return <Badge tone="ok" icon={CircleCheck}>Works</Badge>;
  if (status === "expired") return <Badge icon={TimerOff}>Expired</Badge>;
  return <Badge tone="danger" icon={Ban}>Revoked</Badge>;
}

const columns: Column<Key>[] = [
  {
    key: "label",
    className: nameColumn,
    title: "Key",
    sort: (key) => key.label,
    cell: (key) => (
      <Link from="/keys" to="." search={(before) => ({ ...before, id: key.id })} className={`${rowNameLook} font-sans text-sm`}>
        {clipped(key.label, 80) || "No name"}
      </Link>
    ),
  },
  { key: "status", title: "State", sort: (key) => key.status, cell: (key) => <KeyBadge status={key.status} /> },
  { key: "whose", className: personColumn, title: "Speaks for", sort: (key) => key.principal, cell: (key) => <Requester actor={key.principal} subject={key.subject} /> },
  { key: "scopes", className: wideOnly, title: "May", cell: (key) => <Words words={key.scopes} none="All its principal may" most={3} /> },
  {
    key: "used",
    title: "Last used",
    sort: (key) => key.last_used_at ?? "",
    cell: (key) => (key.last_used_at ? <RelativeTime at={key.last_used_at} className="whitespace-nowrap" /> : <span className="text-ink-3">Never</span>),
  },
  {
    key: "ends",
    className: wideOnly,
    title: "Ends",
    sort: (key) => key.expires_at ?? "~",
    cell: (key) => (key.expires_at ? <RelativeTime at={key.expires_at} className="whitespace-nowrap" /> : <span className="text-ink-3">Never</span>),
  },
];

/** Bearer keys, without the keys themselves. */
export function KeysPage() {
  const { id, add, principal } = route.useSearch();
  const navigate = route.useNavigate();
  const keys = useInfiniteQuery(keysQuery(principal));
  const close = () => void navigate({ search: (before) => ({ principal: before.principal }) });
  return (
    <>
      <PageHeader
        title="API keys"
        description="What programs call with. A key is shown once, when it is made; only its trace is kept."
        action={
          <Button look="primary" onClick={() => void navigate({ search: (before) => ({ principal: before.principal, add: true }) })}>
            <Plus aria-hidden />
            New key
          </Button>
        }
      />
      {principal ? (
        <div className="mb-4 flex items-center gap-2 text-sm">
          <span className="text-ink-3">Keys of</span>
          <code className="break-all font-mono text-xs">{principal}</code>
          <Button look="quiet" size="icon-sm" aria-label="Show all keys" onClick={() => void navigate({ search: {} })}>
            <X aria-hidden />
          </Button>
        </div>
      ) : null}
      <Listing
        label="API keys"
        what="the keys"
        list={keys}
        rows={keys.data?.pages.flatMap((page) => page.keys) ?? []}
        columns={columns}
        rowKey={(key) => key.id}
        empty={
          <EmptyState icon={KeyRound} title="No key yet">
            Make one for yourself, or for an agent that calls tools.
          </EmptyState>
        }
      />
      {add ? <NewKey principal={principal} onClose={close} /> : null}
      {id ? <KeyDrawer key={id} id={id} onClose={close} /> : null}
    </>
  );
}
