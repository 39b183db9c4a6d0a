import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Ban, Building2, CircleCheck, Plus } from "lucide-react";

import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Held } from "@/components/ui/document-drawer";
import { Listing, nameColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { clipped } from "@/lib/visible";

import { NewTenant } from "./new-tenant";
import { type Tenant, tenantQuery, tenantsQuery } from "./queries";
import { TenantDrawer } from "./tenant-drawer";

const route = getRouteApi("/shell/tenants");

/** Whether anybody of a tenant gets in. */
export function TenantBadge({ disabled }: { disabled: boolean }) {
  return disabled ? (
    <Badge tone="danger" icon={Ban}>
      Switched off
    </Badge>
  ) : (
    <Badge tone="ok" icon={CircleCheck}>
      Open
    </Badge>
  );
}

const columns: Column<Tenant>[] = [
  {
    key: "id",
    className: nameColumn,
    title: "Tenant",
    sort: (tenant) => tenant.id,
    cell: (tenant) => (
      <>
        <Link from="/tenants" to="." search={(before) => ({ ...before, id: tenant.id })} className={rowNameLook}>
          {tenant.id}
        </Link>
        <span className="block text-xs text-ink-3">{clipped(tenant.title, 80)}</span>
      </>
    ),
  },
  { key: "state", title: "State", cell: (tenant) => <TenantBadge disabled={tenant.disabled} /> },
  {
    key: "made",
    className: wideOnly,
    title: "Made",
    sort: (tenant) => tenant.created_at,
    cell: (tenant) => <RelativeTime at={tenant.created_at} className="whitespace-nowrap" />,
  },
];

/** The tenants of this server, for those who run it. */
export function TenantsPage() {
  const { id, add } = route.useSearch();
  const navigate = route.useNavigate();
  const tenants = useInfiniteQuery(tenantsQuery);
  const close = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader
        title="Tenants"
        description="A tenant is a wall: nothing of one is seen from another. Only administrators of this one make others."
        action={
          <Button look="primary" onClick={() => void navigate({ search: { add: true } })}>
            <Plus aria-hidden />
            New tenant
          </Button>
        }
      />
      <Listing
        label="Tenants"
        what="the tenants"
        list={tenants}
        rows={tenants.data?.pages.flatMap((page) => page.tenants) ?? []}
        columns={columns}
        rowKey={(tenant) => tenant.id}
        empty={
          <EmptyState icon={Building2} title="No tenant yet">
            Make one for each organisation that shares this server.
          </EmptyState>
        }
      />
      {add ? <NewTenant onClose={close} /> : null}
      {id ? (
        <Held key={id} query={tenantQuery(id) as never} title={id} what="this tenant" onClose={close}>
          {(tenant: Tenant) => <TenantDrawer tenant={tenant} onClose={close} />}
        </Held>
      ) : null}
    </>
  );
}
