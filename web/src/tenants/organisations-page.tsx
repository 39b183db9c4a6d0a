import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ArrowLeftRight, Ban, CircleCheck, LogIn, Plus } from "lucide-react";

import { api, unwrap } from "@/api/client";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { PageHeader } from "@/components/ui/page-header";
import { LoadingRows } from "@/components/ui/skeleton";
import { ErrorNote, ErrorState } from "@/components/ui/states";
import { principalName } from "@/lib/format";
import { clipped } from "@/lib/visible";

import { AddOrganisation } from "./add-organisation";
import { type OwnTenant, ownTenantsQuery } from "./queries";
import { signInTo, useSwitchTenant } from "./switch-tenant";

const route = getRouteApi("/shell/organisations");

/** Where else this person is at home: going there, adding one, taking one away. */
export function OrganisationsPage() {
  const { add } = route.useSearch();
  const navigate = route.useNavigate();
  const tenants = useQuery(ownTenantsQuery);
  return (
    <>
      <PageHeader
        title="Your organisations"
        description="The tenants you proved to be at home in. Each keeps its own tools, runs and record; you go from one to the other without signing in again."
        action={
          <Button look="primary" onClick={() => void navigate({ search: { add: true } })}>
            <Plus aria-hidden />
            Add another organisation
          </Button>
        }
      />
      <Card className="overflow-hidden">
        {tenants.isPending ? (
          <LoadingRows label="Loading your organisations" />
        ) : tenants.isError ? (
          <ErrorState error={tenants.error} what="Your organisations could not be loaded" onRetry={() => void tenants.refetch()} />
        ) : (
          <ul aria-label="Your organisations" className="divide-y divide-line">
            {tenants.data.map((own) => (
              <Organisation key={own.id} own={own} alone={tenants.data.length === 1} />
            ))}
          </ul>
        )}
      </Card>
      {add ? <AddOrganisation onClose={() => void navigate({ search: {} })} /> : null}
    </>
  );
}

function Organisation({ own, alone }: { own: OwnTenant; alone: boolean }) {
  const client = useQueryClient();
  const change = useSwitchTenant();
  const leave = useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/v1/me/tenants/{tenant}", { params: { path: { tenant: own.id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: ["tenants"] }),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-4">
      <div className="min-w-0 flex-1 basis-52">
        <p className="flex flex-wrap items-center gap-2 text-sm font-medium">
          {clipped(own.title, 80)}
          <Access own={own} />
        </p>
        <p className="break-all text-xs text-ink-3">
          <span className="font-mono">{own.id}</span> as {principalName(own.principal).name}
        </p>
        {leave.isError ? <ErrorNote error={leave.error} className="mt-2" /> : null}
      </div>
      {own.access === "switch" ? (
        <Button disabled={change.isPending} onClick={() => change.mutate(own.id)}>
          <ArrowLeftRight aria-hidden />
          Switch
          <span className="sr-only">to {own.title}</span>
        </Button>
      ) : own.access === "sign_in" ? (
        <Button asChild>
          <a href={signInTo(own.id)}>
            <LogIn aria-hidden />
            Sign in there
          </a>
        </Button>
      ) : null}
      {own.current || alone ? null : (
        <ConfirmButton title="Remove…" sure="Yes, link us no more" disabled={leave.isPending} onSure={() => leave.mutate()} />
      )}
    </li>
  );
}

function Access({ own }: { own: OwnTenant }) {
  if (own.access === "current") return <Badge tone="ok" icon={CircleCheck}>You are here</Badge>;
  if (own.access === "closed") return <Badge tone="danger" icon={Ban}>Closed to you</Badge>;
  if (own.access === "sign_in") return <Badge icon={LogIn}>Wants its own sign-in</Badge>;
  return null;
}
