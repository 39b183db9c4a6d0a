import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { api, unwrap } from "@/api/client";
import { Requester } from "@/approvals/requester";
import { Button } from "@/components/ui/button";
import { ButtonLink } from "@/components/ui/button-link";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { Drawer } from "@/components/ui/drawer";
import { Facts, Words } from "@/components/ui/facts";
import { RelativeTime } from "@/components/ui/relative-time";
import { ErrorNote } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";

import { useConnect } from "./connect";
import { ConnectionBadge } from "./connections-page";
import { type Connection, kindWords } from "./queries";

/** One connection: how it does, opening it anew, and removing it. */
export function ConnectionDrawer({ connection, me, onClose }: { connection: Connection; me?: string; onClose: () => void }) {
  const client = useQueryClient();
  const shared = connection.owner === "shared";
  const connect = useConnect();
  const remove = useMutation({
    mutationFn: () =>
      unwrap(
        api.DELETE("/api/v1/connections/{service}", {
          params: { path: { service: connection.service }, query: { owner: connection.owner === me ? undefined : connection.owner } },
        }),
      ),
    onSuccess: () => {
      toast("Removed, with what opened it.");
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["connections"] }),
  });
  return (
    <Drawer
      open
      onClose={onClose}
      badges={<ConnectionBadge state={connection.state} />}
      title={<span className="break-all font-mono text-lg">{connection.service}</span>}
      footer={
        <>
          <ConfirmButton title="Remove…" sure="Yes, remove it" disabled={remove.isPending} onSure={() => remove.mutate()} />
          {!shared && connection.owner !== me ? null : connection.kind === "oauth" ? (
            <Button disabled={connect.isPending} onClick={() => connect.mutate({ service: connection.service, shared })}>
              Log in again
            </Button>
          ) : (
            <ButtonLink to="/connections" search={{ id: connection.id, add: true }}>Give another secret</ButtonLink>
          )}
        </>
      }
    >
      {remove.isError ? <ErrorNote error={remove.error} /> : connect.isError ? <ErrorNote error={connect.error} /> : null}
      <Facts
        facts={[
          ["Used for", shared ? "Everyone" : <Requester key="who" actor={connection.owner} />],
          ["Opened by", `${kindWords[connection.kind] ?? connection.kind}${connection.name ? ` ${connection.name}` : ""}`],
          ["Sent only to", <code key="place" className="break-all font-mono text-xs">{connection.place}</code>],
          ...(connection.kind === "oauth"
            ? ([
                ["Logged in at", connection.issuer ?? "Not said"],
                ["Lets us", <Words key="scopes" words={connection.scopes ?? []} none="Whatever it lets by itself" />],
              ] as [string, ReactNode][])
            : []),
          ["Made", <RelativeTime key="made" at={connection.created_at} />],
          ["Changed", <RelativeTime key="changed" at={connection.updated_at} />],
          ["Last used", connection.last_used_at ? <RelativeTime key="used" at={connection.last_used_at} /> : "Never"],
        ]}
      />
    </Drawer>
  );
}
