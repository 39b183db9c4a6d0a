import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Ban, CircleCheck, Mail } from "lucide-react";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ButtonLink } from "@/components/ui/button-link";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { Drawer } from "@/components/ui/drawer";
import { SecretOnce } from "@/components/ui/secret-once";
import { ErrorNote } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { formatExact } from "@/lib/format";
import { linesOf } from "@/lib/search";

import { type Holdings, HoldingsFields } from "./holdings";
import type { Principal } from "./queries";

/** One of them: what it holds, the way in, and the way out. */
export function PrincipalDrawer({ principal: first, onClose }: { principal: Principal; onClose: () => void }) {
  const client = useQueryClient();
  const [principal, setPrincipal] = useState(first);
  const [held, setHeld] = useState<Holdings>({
    title: first.title,
    roles: first.roles,
    rules: first.rules.join("\n"),
    actsFor: first.acts_for.join("\n"),
  });
  const path = { params: { path: { id: principal.id } } };
  const settled = () => client.invalidateQueries({ queryKey: ["principals"] });
  const save = useMutation({
    mutationFn: () =>
      unwrap(
        api.PATCH("/api/v1/principals/{id}", {
          ...path,
          body: { title: held.title || undefined, roles: held.roles, rules: linesOf(held.rules), acts_for: linesOf(held.actsFor) },
        }),
      ),
    onSuccess: () => {
      toast("Saved. It holds from the next call on.");
      onClose();
    },
    onSettled: settled,
  });
  const shut = useMutation({
    mutationFn: (disabled: boolean) => unwrap(api.PATCH("/api/v1/principals/{id}", { ...path, body: { disabled } })),
    onSuccess: setPrincipal,
    onSettled: settled,
  });
  const invite = useMutation({ mutationFn: () => unwrap(api.POST("/api/v1/principals/{id}/invite", path)) });
  const failed = [save, shut, invite].find((one) => one.isError);
  return (
    <Drawer
      open
      onClose={onClose}
      badges={
        principal.disabled ? (
          <Badge tone="danger" icon={Ban}>
            Shut out
          </Badge>
        ) : (
          <Badge tone="ok" icon={CircleCheck}>
            Gets in
          </Badge>
        )
      }
      title={<span className="break-all font-mono text-lg">{principal.id}</span>}
      footer={
        <>
          {principal.disabled ? (
            <Button disabled={shut.isPending} onClick={() => shut.mutate(false)}>
              Let in again
            </Button>
          ) : (
            <ConfirmButton title="Shut out…" sure="Yes, end its keys and sign-ins" disabled={shut.isPending} onSure={() => shut.mutate(true)} />
          )}
          <Button look="primary" disabled={save.isPending} onClick={() => save.mutate()}>
            {save.isPending ? "Saving…" : "Save"}
          </Button>
        </>
      }
    >
      {failed ? <ErrorNote error={failed.error} /> : null}
      {invite.data ? (
        <SecretOnce secret={invite.data.url} label="Invitation">
          {`Send this link to them by a way you trust: whoever opens it first becomes this user. It is shown once and works until ${formatExact(invite.data.expires_at)}.`}
        </SecretOnce>
      ) : (
        <div className="flex flex-wrap gap-2">
          {principal.kind === "user" ? (
            <Button disabled={invite.isPending || principal.disabled} onClick={() => invite.mutate()}>
              <Mail aria-hidden />
              Make an invitation
            </Button>
          ) : (
            <ButtonLink to="/assignments" search={{ agent: principal.id }}>Its tools</ButtonLink>
          )}
          <ButtonLink to="/keys" search={{ principal: principal.id }}>Its keys</ButtonLink>
        </div>
      )}
      <HoldingsFields kind={principal.kind} value={held} onChange={setHeld} />
    </Drawer>
  );
}
