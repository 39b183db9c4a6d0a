import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { type ReactNode, useState } from "react";

import { api, unwrap } from "@/api/client";
import { Requester } from "@/approvals/requester";
import { Button } from "@/components/ui/button";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { CopyableId } from "@/components/ui/copyable";
import { Drawer } from "@/components/ui/drawer";
import { Facts, Words } from "@/components/ui/facts";
import { ChoiceField } from "@/components/ui/fields";
import { RelativeTime } from "@/components/ui/relative-time";
import { SecretOnce } from "@/components/ui/secret-once";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { ErrorNote, ErrorState } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { principalName } from "@/lib/format";
import { visible } from "@/lib/visible";

import { KeyBadge } from "./keys-page";
import { type Key, keyQuery } from "./queries";

/** One key: what it may do, a new one in its place, and its end. */
export function KeyDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const client = useQueryClient();
  const key = useQuery(keyQuery(id));
  const [overlap, setOverlap] = useState("0");
  const path = { params: { path: { id } } };
  const settled = () => client.invalidateQueries({ queryKey: ["keys"] });
  const revoke = useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/v1/keys/{id}", path)),
    onSuccess: () => toast("Revoked. It works no more."),
    onSettled: settled,
  });
  const rotate = useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/keys/{id}/rotate", { ...path, body: { overlap_seconds: Number(overlap) } })),
    onSettled: settled,
  });
  const works = key.data?.status === "active";
  return (
    <Drawer
      open
      onClose={onClose}
      badges={key.data ? <KeyBadge status={key.data.status} /> : undefined}
      title={key.data ? <span className="break-all">{visible(key.data.label) || "No name"}</span> : "Key"}
      footer={
        works ? (
          <ConfirmButton title="Revoke…" sure="Yes, it and every key made from it" disabled={revoke.isPending} onSure={() => revoke.mutate()} />
        ) : undefined
      }
    >
      {key.isPending ? (
        <Loading label="Loading the key">
          <Skeleton className="h-40 rounded-xl" />
        </Loading>
      ) : key.isError ? (
        <ErrorState error={key.error} what="The key could not be loaded" onRetry={() => void key.refetch()} />
      ) : (
        <>
          {rotate.isError ? <ErrorNote error={rotate.error} /> : revoke.isError ? <ErrorNote error={revoke.error} /> : null}
          {rotate.data ? (
            <SecretOnce secret={rotate.data.secret} label="New key">
              Copy the new key now: it is not stored here and can’t be shown again.
            </SecretOnce>
          ) : null}
          <KeyFacts value={key.data} />
          {works && !rotate.data ? (
            <section aria-label="A new key in its place" className="space-y-4 rounded-xl border border-line p-5">
              <h3 className="text-sm font-semibold">A new key in its place</h3>
              <ChoiceField
                label="The old one works on"
                value={overlap}
                onChange={setOverlap}
                options={[
                  { value: "0", title: "Not at all" },
                  { value: "3600", title: "An hour" },
                  { value: "86400", title: "A day" },
                ]}
              />
              <Button disabled={rotate.isPending} onClick={() => rotate.mutate()}>
                <RotateCw aria-hidden />
                Make a new one
              </Button>
            </section>
          ) : null}
        </>
      )}
    </Drawer>
  );
}

function KeyFacts({ value }: { value: Key }) {
  return (
    <Facts
      facts={[
        ["Id", <CopyableId key="id" id={value.id} />],
        ["Speaks for", <Requester key="who" actor={value.principal} subject={value.subject} />],
        ["May", <Words key="may" words={value.scopes} none="All its principal may" />],
        ["Made", <span key="made">{principalName(value.created_by).name} <RelativeTime at={value.created_at} className="text-ink-3" /></span>],
        ["Last used", value.last_used_at ? <RelativeTime key="used" at={value.last_used_at} /> : "Never"],
        ["Ends", value.expires_at ? <RelativeTime key="ends" at={value.expires_at} /> : "Never by itself"],
        ...(value.revoked_at ? [["Revoked", <RelativeTime key="revoked" at={value.revoked_at} />] as [string, ReactNode]] : []),
        ...(value.replaces ? [["In place of", <CopyableId key="old" id={value.replaces} />] as [string, ReactNode]] : []),
      ]}
    />
  );
}
