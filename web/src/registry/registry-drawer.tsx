import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Drawer } from "@/components/ui/drawer";
import { Facts } from "@/components/ui/facts";
import { ChoiceField, SwitchField } from "@/components/ui/fields";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { ApprovalBadge, EffectBadge, EgressBadge } from "@/components/ui/state-badges";
import { ErrorNote, ErrorState } from "@/components/ui/states";
import { humanWord } from "@/lib/format";
import { visible } from "@/lib/visible";

import { enablementWords, type RegistryTool, registryToolQuery } from "./queries";

/** One tool: whether it is on here and whether it always asks. What is chosen holds at once. */
export function RegistryDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const tool = useQuery(registryToolQuery(id));
  return (
    <Drawer
      open
      onClose={onClose}
      badges={
        tool.data ? (
          <>
            <EffectBadge effect={tool.data.effect} />
            <EgressBadge egress={tool.data.egress} />
            {tool.data.requires_approval ? <ApprovalBadge /> : null}
          </>
        ) : undefined
      }
      title={tool.data ? visible(tool.data.title) : <span className="break-all font-mono text-lg">{id}</span>}
      description={<code className="break-all font-mono text-xs">{id}</code>}
    >
      {tool.isPending ? (
        <Loading label="Loading the tool">
          <Skeleton className="h-32 rounded-xl" />
        </Loading>
      ) : tool.isError ? (
        <ErrorState error={tool.error} what="The tool could not be loaded" onRetry={() => void tool.refetch()} />
      ) : (
        <Choices tool={tool.data} />
      )}
    </Drawer>
  );
}

function Choices({ tool }: { tool: RegistryTool }) {
  const client = useQueryClient();
  const enabled = tool.setting?.enabled ?? undefined;
  const asks = tool.setting?.approval === "always_ask";
  const write = useMutation({
    mutationFn: (next: { enabled: boolean | undefined; asks: boolean }) => {
      const path = { params: { path: { tool: tool.id } } };
      // A word that says nothing is no word: it is taken back.
      return next.enabled === undefined && !next.asks
        ? unwrap(api.DELETE("/api/v1/registry/{tool}", path))
        : unwrap(api.PUT("/api/v1/registry/{tool}", { ...path, body: { enabled: next.enabled, approval: next.asks ? "always_ask" : undefined } }));
    },
    onSettled: () =>
      Promise.all([client.invalidateQueries({ queryKey: ["registry"] }), client.invalidateQueries({ queryKey: ["tools"] })]),
  });
  const shown = write.isPending ? write.variables : { enabled, asks };
  return (
    <>
      {write.isError ? <ErrorNote error={write.error} /> : null}
      <ChoiceField
        label="In your tenant"
        hint="Off means absent: nobody here sees or calls it."
        value={shown.enabled === undefined ? "default" : shown.enabled ? "on" : "off"}
        onChange={(next) => write.mutate({ enabled: next === "default" ? undefined : next === "on", asks })}
        options={[
          { value: "default", title: "As it comes" },
          { value: "on", title: "On" },
          { value: "off", title: "Off" },
        ]}
      />
      <SwitchField
        label="Always ask a person"
        hint="Every call waits, whatever policy says. It can only be made stricter here."
        checked={shown.asks}
        onChange={(next) => write.mutate({ enabled, asks: next })}
      />
      <Facts
        facts={[
          ["Now", enablementWords[tool.enablement] ?? tool.enablement],
          ["Category", humanWord(tool.category)],
          ["Origin", tool.origin === "system" ? "Comes with the server, off until switched on" : "Added here, on until switched off"],
        ]}
      />
      {tool.enabled ? (
        <Button asChild>
          <Link to="/tools/$id" params={{ id: tool.id }}>
            Open the tool
          </Link>
        </Button>
      ) : null}
    </>
  );
}
