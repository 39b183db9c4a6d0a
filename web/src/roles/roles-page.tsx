import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { IdCard, Pencil, Plus } from "lucide-react";

import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Held } from "@/components/ui/document-drawer";
import { Words } from "@/components/ui/facts";
import { Listing, nameColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { clipped } from "@/lib/visible";

import { type Role, roleQuery, rolesQuery } from "./queries";
import { RoleDrawer } from "./role-drawer";

const route = getRouteApi("/shell/roles");

const columns: Column<Role>[] = [
  {
    key: "name",
    className: nameColumn,
    title: "Role",
    sort: (role) => role.name,
    cell: (role) => (
      <Link to="/roles" search={{ id: role.name }} className={rowNameLook}>
        {role.name}
      </Link>
    ),
  },
  { key: "for", title: "What for", cell: (role) => <span className="line-clamp-2 max-w-[48ch]">{clipped(role.description, 160)}</span> },
  { key: "rules", title: "Access rules", cell: (role) => <Words words={role.rules} none="None of its own" most={4} /> },
  {
    key: "kind",
    className: wideOnly,
    title: "Kind",
    cell: (role) => (
      <Badge icon={role.own ? Pencil : IdCard}>{role.own ? (role.built_in ? "Built in, rewritten" : "Your own") : "Built in"}</Badge>
    ),
  },
];

/** Named sets of access rules. */
export function RolesPage() {
  const { id, add } = route.useSearch();
  const navigate = route.useNavigate();
  const roles = useInfiniteQuery(rolesQuery);
  const close = () => void navigate({ search: {} });
  return (
    <>
      <PageHeader
        title="Roles"
        description="What people and agents have, and what policies speak of. Nobody can give rules that they do not hold themselves."
        action={
          <Button look="primary" onClick={() => void navigate({ search: { add: true } })}>
            <Plus aria-hidden />
            New role
          </Button>
        }
      />
      <Listing
        label="Roles"
        what="the roles"
        list={roles}
        rows={roles.data?.pages.flatMap((page) => page.roles) ?? []}
        columns={columns}
        rowKey={(role) => role.name}
        empty={<EmptyState icon={IdCard} title="No roles">Roles name what people may do.</EmptyState>}
      />
      {add ? <RoleDrawer role={null} onClose={close} /> : null}
      {id ? (
        <Held key={id} query={roleQuery(id) as never} title={id} what="the role" onClose={close}>
          {(role: Role, again) => <RoleDrawer role={role} onClose={close} again={again} />}
        </Held>
      ) : null}
    </>
  );
}
