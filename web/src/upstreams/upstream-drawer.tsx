import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import type { ReactNode } from "react";

import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { ButtonLink } from "@/components/ui/button-link";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { BadgeSkeleton, Drawer, DrawerSection } from "@/components/ui/drawer";
import { Facts } from "@/components/ui/facts";
import { RelativeTime } from "@/components/ui/relative-time";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { ErrorNote, ErrorState } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { counted, formatDuration, principalName } from "@/lib/format";
import { visible } from "@/lib/visible";

import { reachedBy, type Upstream, upstreamQuery } from "./queries";
import { HealthBadge } from "./words";

const accounts: Record<string, string> = { none: "None", shared: "One that all share", per_user: "Each person’s own" };

/** One server: how it does, how it is reached, and what can be done with it. */
export function UpstreamDrawer({ name, onClose }: { name: string; onClose: () => void }) {
  const upstream = useQuery(upstreamQuery(name));
  return (
    <Drawer
      open
      onClose={onClose}
      badges={upstream.data ? <HealthBadge upstream={upstream.data} /> : upstream.isPending ? <BadgeSkeleton /> : undefined}
      title={<span className="break-all font-mono text-lg">{name}</span>}
      description={upstream.data?.title ? visible(upstream.data.title) : undefined}
      footer={upstream.data ? <Actions upstream={upstream.data} onGone={onClose} /> : undefined}
    >
      {upstream.isPending ? (
        <Loading label="Loading the server">
          <Skeleton className="h-32 rounded-xl" />
        </Loading>
      ) : upstream.isError ? (
        <ErrorState error={upstream.error} what="The server could not be loaded" onRetry={() => void upstream.refetch()} />
      ) : (
        <Known upstream={upstream.data} />
      )}
    </Drawer>
  );
}

function Known({ upstream }: { upstream: Upstream }) {
  const health = upstream.health;
  const tools = Object.entries(upstream.tools).filter(([, count]) => count > 0);
  const facts: [string, ReactNode][] = [
    ["Reached by", <code key="reached" className="break-all font-mono text-xs">{reachedBy(upstream)}</code>],
    ["Account", accounts[upstream.auth ?? "none"] ?? upstream.auth],
    ["Its questions", upstream.questions === "ask" ? "Put to the person who calls" : "Refused"],
    ["Protocol", health?.protocol ?? "Not known yet"],
    ["Answers in", health?.typical_ms ? `About ${formatDuration(health.typical_ms)}` : "Not known yet"],
    ["At once", counted(upstream.concurrency ?? 16, "call")],
    ["Tools", tools.length > 0 ? tools.map(([state, count]) => `${count} ${state}`).join(", ") : "None yet"],
    ["Written", <span key="by">{principalName(upstream.updated_by).name} <RelativeTime at={upstream.updated_at} className="text-ink-3" /></span>],
  ];
  return (
    <>
      {health?.last_error ? (
        <DrawerSection title="Last fault" aside={health.failed_at ? <RelativeTime at={health.failed_at} /> : undefined}>
          <p className="rounded-lg bg-danger-soft px-3 py-2 text-sm text-danger-ink">{visible(health.last_error)}</p>
        </DrawerSection>
      ) : null}
      <Facts facts={facts} />
      {health?.stderr ? (
        <DrawerSection title="What its program said" aside="Standard error, the end of it">
          <pre tabIndex={0} role="region" aria-label="Standard error" className="max-h-60 overflow-auto whitespace-pre-wrap break-words rounded-lg border border-line bg-sunken p-3 font-mono text-xs">
            {visible(health.stderr)}
          </pre>
        </DrawerSection>
      ) : null}
    </>
  );
}

function Actions({ upstream, onGone }: { upstream: Upstream; onGone: () => void }) {
  const client = useQueryClient();
  const path = { params: { path: { name: upstream.name } } };
  const again = () => client.invalidateQueries({ queryKey: ["upstreams"] });
  const look = useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/upstreams/{name}/refresh", path)),
    onSuccess: (found) => toast(`Looked: ${found.new.length} new, ${found.changed.length} changed, ${found.gone.length} gone.`),
    onSettled: again,
  });
  const flip = useMutation({
    mutationFn: () =>
      unwrap(upstream.enabled ? api.POST("/api/v1/upstreams/{name}/disable", path) : api.POST("/api/v1/upstreams/{name}/enable", path)),
    onSettled: again,
  });
  const remove = useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/v1/upstreams/{name}", path)),
    onSuccess: () => {
      toast("Removed, with everything that was accepted of it.");
      onGone();
    },
    // Everything but the server itself, which is gone.
    onSettled: () => client.invalidateQueries({ queryKey: ["upstreams"], predicate: (query) => query.queryKey[1] !== "one" }),
  });
  const failed = [look, flip, remove].find((one) => one.isError);
  const busy = look.isPending || flip.isPending || remove.isPending;
  return (
    <>
      {failed ? <ErrorNote error={failed.error} className="w-full" /> : null}
      <ConfirmButton title="Remove…" sure="Yes, remove it and its tools" disabled={busy} onSure={() => remove.mutate()} />
      <div className="flex flex-wrap gap-2">
        {upstream.auth !== "none" ? (
          <ButtonLink to="/connections" search={{ add: true, service: `mcp:${upstream.name}` }} look="quiet">Connect it</ButtonLink>
        ) : null}
        <ButtonLink to="/upstreams" search={{ tab: "review" }} look="quiet">Review its tools</ButtonLink>
        <ButtonLink from="/upstreams" to="." search={(before) => ({ ...before, edit: true as const })}>Change</ButtonLink>
        <Button disabled={busy} onClick={() => flip.mutate()}>
          {upstream.enabled ? "Switch off" : "Switch on"}
        </Button>
        <Button disabled={busy} onClick={() => look.mutate()}>
          <RefreshCw aria-hidden />
          {look.isPending ? "Looking…" : "Look again"}
        </Button>
      </div>
    </>
  );
}
