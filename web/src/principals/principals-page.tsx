import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Ban, CircleCheck, Plus, UsersRound } from "lucide-react";

import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Held } from "@/components/ui/document-drawer";
import { Words } from "@/components/ui/facts";
import { Listing, nameColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { EmptyState } from "@/components/ui/states";
import type { Column } from "@/components/ui/table";
import { TabPanel, Tabs } from "@/components/ui/tabs";
import { clipped } from "@/lib/visible";

import { NewPrincipal } from "./new-principal";
import { PrincipalDrawer } from "./principal-drawer";
import { type Principal, type PrincipalKind, principalQuery, principalsQuery } from "./queries";

const route = getRouteApi("/shell/principals");

const words: Record<PrincipalKind, { many: string; add: string; empty: string }> = {
  user: { many: "Users", add: "New user", empty: "Make a user and send them the invitation: they choose a password by it." },
  agent: { many: "Agents", add: "New agent", empty: "An agent calls tools with a key of its own, for itself or for people." },
  service: { many: "Services", add: "New service", empty: "A service is a program that calls tools for itself, such as a nightly job." },
};

const columns: Column<Principal>[] = [
  {
    key: "id",
    className: nameColumn,
    title: "Id",
    sort: (principal) => principal.id,
    cell: (principal) => (
      <>
        <Link from="/principals" to="." search={(before) => ({ ...before, id: principal.id })} className={rowNameLook}>
          {principal.id}
        </Link>
        <span className="block text-xs text-ink-3">{clipped(principal.title, 80)}</span>
      </>
    ),
  },
  {
    key: "in",
    title: "Gets in",
    cell: (principal) =>
      principal.disabled ? (
        <Badge tone="danger" icon={Ban}>
          Shut out
        </Badge>
      ) : (
        <Badge tone="ok" icon={CircleCheck}>
          Yes
        </Badge>
      ),
  },
  { key: "roles", title: "Roles", cell: (principal) => <Words words={principal.roles} none="None" most={4} /> },
  { key: "rules", className: wideOnly, title: "Rules of its own", cell: (principal) => <Words words={principal.rules} none="None" most={3} /> },
  {
    key: "made",
    className: wideOnly,
    title: "Made",
    sort: (principal) => principal.created_at,
    cell: (principal) => <RelativeTime at={principal.created_at} className="whitespace-nowrap" />,
  },
];

/** Who can call tools here: people, agents and services. */
export function PrincipalsPage() {
  const { kind = "user", id, add } = route.useSearch();
  const navigate = route.useNavigate();
  const principals = useInfiniteQuery(principalsQuery(kind));
  const close = () => void navigate({ search: (before) => ({ kind: before.kind }) });
  return (
    <>
      <PageHeader
        title="People and agents"
        description="Who gets in, and what they hold. What they may do with it is for policy to say."
        action={
          <Button look="primary" onClick={() => void navigate({ search: (before) => ({ kind: before.kind, add: true }) })}>
            <Plus aria-hidden />
            {words[kind].add}
          </Button>
        }
      />
      <Tabs
        label="Which kind"
        value={kind}
        onChange={(next) => void navigate({ search: { kind: next === "user" ? undefined : (next as "agent") } })}
        tabs={(["user", "agent", "service"] as const).map((value) => ({ value, title: words[value].many }))}
      >
        <TabPanel value={kind}>
          <Listing
            label={words[kind].many}
            what={words[kind].many.toLowerCase()}
            list={principals}
            rows={principals.data?.pages.flatMap((page) => page.principals) ?? []}
            columns={columns}
            rowKey={(principal) => principal.id}
            empty={
              <EmptyState icon={UsersRound} title={`No ${words[kind].many.toLowerCase()} yet`}>
                {words[kind].empty}
              </EmptyState>
            }
          />
        </TabPanel>
      </Tabs>
      {add ? <NewPrincipal kind={kind} onClose={close} /> : null}
      {id ? (
        <Held key={id} query={principalQuery(id) as never} title={id} what="this entry" onClose={close}>
          {(principal: Principal) => <PrincipalDrawer principal={principal} onClose={close} />}
        </Held>
      ) : null}
    </>
  );
}
