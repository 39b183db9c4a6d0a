import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { ButtonLink } from "@/components/ui/button-link";
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

type Word = { enabled: boolean | undefined; asks: boolean };

function Choices({ tool }: { tool: RegistryTool }) {
  const client = useQueryClient();
  // What was chosen just now is shown at once; when nothing is on its way any more, what the server says holds again.
  const [chosen, setChosen] = useState<Word | null>(null);
  const shown: Word = chosen ?? { enabled: tool.setting?.enabled ?? undefined, asks: tool.setting?.approval === "always_ask" };
  const mutationKey = ["registry", tool.id];
  const write = useMutation({
    mutationKey,
    // One after the other: the last word is the last that was said.
    scope: { id: `registry ${tool.id}` },
    mutationFn: (next: Word) => {
      const path = { params: { path: { tool: tool.id } } };
      // A word that says nothing is no word: it is taken back.
      return next.enabled === undefined && !next.asks
        ? unwrap(api.DELETE("/api/v1/registry/{tool}", path))
        : unwrap(api.PUT("/api/v1/registry/{tool}", { ...path, body: { enabled: next.enabled, approval: next.asks ? "always_ask" : undefined } }));
    },
    onSettled: async () => {
      await Promise.all([client.invalidateQueries({ queryKey: ["registry"] }), client.invalidateQueries({ queryKey: ["tools"] })]);
      if (client.isMutating({ mutationKey }) === 1) setChosen(null);
    },
  });
  const choose = (next: Word) => {
    setChosen(next);
    write.mutate(next);
  };
  return (
    <>
      {write.isError ? <ErrorNote error={write.error} /> : null}
      <ChoiceField
        label="In your tenant"
        hint="Off means absent: nobody here sees or calls it."
        value={shown.enabled === undefined ? "default" : shown.enabled ? "on" : "off"}
        onChange={(next) => choose({ ...shown, enabled: next === "default" ? undefined : next === "on" })}
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
        onChange={(next) => choose({ ...shown, asks: next })}
      />
      <Facts
        facts={[
          ["Now", enablementWords[tool.enablement] ?? tool.enablement],
          ["Category", humanWord(tool.category)],
          ["As it comes", tool.origin === "system" ? "Off until someone switches it on" : "On until someone switches it off"],
        ]}
      />
      <div className="flex flex-wrap gap-2">
        {tool.enabled ? (
          <ButtonLink to="/tools/$id" params={{ id: tool.id }}>Open the tool</ButtonLink>
        ) : null}
        <ButtonLink to="/kills" search={{ add: true, kind: "tool", target: tool.id }} look="danger">Stop it now…</ButtonLink>
      </div>
    </>
  );
}
