import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import { api, unwrap } from "@/api/client";
import { Requester } from "@/approvals/requester";
import { Button } from "@/components/ui/button";
import { CopyableId } from "@/components/ui/copyable";
import { Drawer, DrawerSection } from "@/components/ui/drawer";
import { JsonView } from "@/components/ui/json-view";
import { RelativeTime } from "@/components/ui/relative-time";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { ErrorNote, ErrorState } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { principalName } from "@/lib/format";

import { Ends } from "./ends";
import { coverage, type Grant, grantQuery, timesUsed } from "./queries";

/** One grant: what it covers, how often it was used, and taking it back. */
export function GrantDrawer({ name, onClose }: { name: string; onClose: () => void }) {
  const grant = useQuery(grantQuery(name));
  return (
    <Drawer
      open
      onClose={onClose}
      title={grant.data ? <span className="break-all font-mono text-lg">{grant.data.tool}</span> : "Standing grant"}
      description={grant.data ? "Such calls run without asking a person." : undefined}
      footer={grant.data ? <Revoke grant={grant.data} onDone={onClose} /> : undefined}
    >
      {grant.isPending ? (
        <Loading label="Loading the grant">
          <Skeleton className="h-24 rounded-xl" />
        </Loading>
      ) : grant.isError ? (
        <ErrorState error={grant.error} what="The grant could not be loaded" onRetry={() => void grant.refetch()} />
      ) : (
        <Facts grant={grant.data} />
      )}
    </Drawer>
  );
}

function Facts({ grant }: { grant: Grant }) {
  const facts: [string, ReactNode][] = [
    ["Used", timesUsed(grant)],
    ["Whose calls", <Requester key="who" actor={grant.actor} subject={grant.subject} />],
    ["Which", coverage(grant)],
    ["Where", grant.session_id ? <CopyableId key="where" id={grant.session_id} /> : "In every session"],
    ["Given by", <span key="by">{principalName(grant.by).name} <RelativeTime at={grant.created_at} className="text-ink-3" /></span>],
    ["Ends", <Ends key="ends" at={grant.expires_at} />],
    [
      "Given with",
      <Link key="call" to="/approvals" search={{ id: grant.call_id }} className="text-accent-ink hover:underline">
        this call
      </Link>,
    ],
  ];
  return (
    <>
      <dl className="divide-y divide-line rounded-xl border border-line">
        {facts.map(([title, value]) => (
          <div key={title} className="grid grid-cols-[120px_minmax(0,1fr)] gap-4 px-4 py-2.5 text-sm">
            <dt className="text-ink-3">{title}</dt>
            <dd className="break-words">{value}</dd>
          </div>
        ))}
      </dl>
      {grant.arguments ? (
        <DrawerSection title="What the input must be like">
          <JsonView value={grant.arguments} label="Bounds on the input" />
        </DrawerSection>
      ) : null}
    </>
  );
}

function Revoke({ grant, onDone }: { grant: Grant; onDone: () => void }) {
  const client = useQueryClient();
  const [sure, setSure] = useState(false);
  const revoke = useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/v1/grants/{name}", { params: { path: { name: grant.name } } })),
    onSuccess: () => {
      toast("Taken back. The next such call asks again.");
      onDone();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["grants", "list"] }),
  });
  return (
    <>
      <p className="min-w-0 flex-1 text-xs text-ink-3">
        {sure ? "The next such call asks a person again. Calls that ran stay as they are." : "It can be given again with the next approval."}
      </p>
      {revoke.isError ? <ErrorNote error={revoke.error} className="w-full" /> : null}
      <div className="flex gap-2">
        {sure ? (
          <Button look="quiet" onClick={() => setSure(false)}>
            Keep it
          </Button>
        ) : null}
        <Button look="danger" disabled={revoke.isPending} onClick={() => (sure ? revoke.mutate() : setSure(true))}>
          {sure ? "Yes, take it back" : "Take back…"}
        </Button>
      </div>
    </>
  );
}
