import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { sentence } from "@/api/error";
import { Button } from "@/components/ui/button";
import { BadgeSkeleton, Drawer, DrawerSection } from "@/components/ui/drawer";
import { ChoiceField, SwitchField, TextField } from "@/components/ui/fields";
import { JsonView } from "@/components/ui/json-view";
import { Said } from "@/components/ui/said";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { ErrorNote, ErrorState } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { visible } from "@/lib/visible";

import { type UpstreamTool, upstreamToolQuery } from "./queries";
import { DiffText, ToolStateBadge } from "./words";

/** One tool of a server: what it says, what strikes in it, what changed, and the decision. */
export function ReviewDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const tool = useQuery(upstreamToolQuery(id));
  const digest = tool.data?.digest;
  // What was there when the drawer was opened. It may change under the reader's eyes, and they have to know.
  const [opened, setOpened] = useState<string | null>(null);
  if (opened === null && digest && !tool.isFetching) setOpened(digest);
  const moved = opened !== null && digest != null && digest !== opened;
  return (
    <Drawer
      open
      wide
      onClose={onClose}
      badges={tool.data ? <ToolStateBadge state={tool.data.state} /> : tool.isPending ? <BadgeSkeleton /> : undefined}
      title={<span className="break-all font-mono text-lg">{id}</span>}
      description={tool.data?.state === "gone" ? undefined : "What follows are the server’s own words. Its hints are shown and never believed."}
    >
      {tool.isPending ? (
        <Loading label="Loading the tool">
          <Skeleton className="h-40 rounded-xl" />
        </Loading>
      ) : tool.isError ? (
        <ErrorState error={tool.error} what="The tool could not be loaded" onRetry={() => void tool.refetch()} />
      ) : (
        <>
          {moved ? (
            <p role="alert" className="rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn-ink">
              The server changed it while you looked, and nothing was decided. What follows is what it says now: read it again.
            </p>
          ) : null}
          <Shown tool={tool.data} />
          {tool.data.digest ? <Decision key={tool.data.digest} tool={tool.data} digest={tool.data.digest} onDone={onClose} /> : null}
        </>
      )}
    </Drawer>
  );
}

function Shown({ tool }: { tool: UpstreamTool }) {
  const offer = tool.offer as { description?: string; input_schema?: unknown; output_schema?: unknown; annotations?: unknown } | undefined;
  return (
    <>
      {tool.warnings.length > 0 ? (
        <ul className="space-y-1 rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn-ink">
          {tool.warnings.map((warning) => (
            <li key={warning} className="flex gap-2">
              <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
              <span className="min-w-0 break-words"><Said text={sentence(warning)} /></span>
            </li>
          ))}
        </ul>
      ) : null}
      {tool.unusable ? (
        <p role="alert" className="rounded-lg bg-danger-soft px-3 py-2 text-sm text-danger-ink">
          It can’t be accepted as it is: <Said text={tool.unusable} />
        </p>
      ) : null}
      {tool.state === "changed" && tool.diff ? (
        <DrawerSection title="What changed" aside="Against what was accepted">
          <DiffText text={visible(tool.diff.trimEnd())} label="What changed" />
        </DrawerSection>
      ) : null}
      {tool.state === "gone" ? <p className="text-sm text-ink-2">
          The server does not have it any more, so nobody can call it. If it comes back as it was, what was decided holds; if it comes
          back changed, it waits for review.
        </p> : null}
      {offer ? (
        <>
          <DrawerSection title="Description">
            <p className="whitespace-pre-wrap break-words text-sm text-ink-2">{visible(offer.description ?? "") || "It says nothing."}</p>
          </DrawerSection>
          <DrawerSection title="Input">
            <JsonView value={offer.input_schema} label="Input schema" />
          </DrawerSection>
          {offer.output_schema ? (
            <DrawerSection title="Output">
              <JsonView value={offer.output_schema} label="Output schema" />
            </DrawerSection>
          ) : null}
          {offer.annotations ? (
            <DrawerSection title="Its hints" aside="Not believed">
              <JsonView value={offer.annotations} label="Hints of the server" />
            </DrawerSection>
          ) : null}
        </>
      ) : null}
    </>
  );
}

function Decision({ tool, digest, onDone }: { tool: UpstreamTool; digest: string; onDone: () => void }) {
  const client = useQueryClient();
  const before = tool.decision;
  const [effect, setEffect] = useState(before?.effect);
  const [egress, setEgress] = useState(before?.egress);
  const [allow, setAllow] = useState(before?.redaction_allow.join(", ") ?? "*");
  const [ask, setAsk] = useState(before?.always_ask ?? false);
  const path = { params: { path: { id: tool.id } } };
  const settled = () => client.invalidateQueries({ queryKey: ["upstreams"] });
  const accept = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST("/api/v1/upstream-tools/{id}/accept", {
          ...path,
          body: {
            digest,
            effect: effect ?? "",
            egress: egress ?? "",
            idempotent: before?.idempotent ?? false,
            redaction_allow: allow.split(",").map((field) => field.trim()).filter(Boolean),
            permissions: before?.permissions ?? [],
            always_ask: ask,
          },
        }),
      ),
    onSuccess: () => {
      toast("Accepted. It can be called now.");
      onDone();
    },
    onSettled: settled,
  });
  const refuse = useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/upstream-tools/{id}/refuse", { ...path, body: { digest } })),
    onSuccess: () => {
      toast("Refused. It stays off until it is offered otherwise.");
      onDone();
    },
    onSettled: settled,
  });
  const busy = accept.isPending || refuse.isPending;
  const ready = effect && egress && allow.trim() !== "" && !tool.unusable;
  return (
    <section aria-label="Your decision" className="space-y-5 rounded-xl border border-line p-5">
      <h3 className="text-sm font-semibold">Your decision</h3>
      <ChoiceField
        label="What does a call do?"
        value={effect}
        onChange={setEffect}
        options={[
          { value: "read", title: "Reads" },
          { value: "mutate", title: "Writes" },
          { value: "destructive", title: "Destroys" },
        ]}
      />
      <ChoiceField
        label="What leaves the house?"
        value={egress}
        onChange={setEgress}
        options={[
          { value: "none", title: "Nothing" },
          { value: "read_only", title: "Questions" },
          { value: "write", title: "Changes" },
        ]}
      />
      <TextField
        label="Output that may be shown"
        hint="Fields with commas between, such as total, rows.*.name; * shows everything."
        value={allow}
        onChange={setAllow}
        mono
      />
      <SwitchField label="Always ask a person" hint="Every call waits, whatever policy says." checked={ask} onChange={setAsk} />
      {accept.isError ? <ErrorNote error={accept.error} /> : refuse.isError ? <ErrorNote error={refuse.error} /> : null}
      <div className="flex flex-wrap justify-end gap-2">
        <Button look="danger" disabled={busy || tool.state === "refused"} onClick={() => refuse.mutate()}>
          Refuse
        </Button>
        <Button look="primary" disabled={busy || !ready} onClick={() => accept.mutate()}>
          {tool.state === "changed" ? "Accept the change" : "Accept"}
        </Button>
      </div>
    </section>
  );
}
