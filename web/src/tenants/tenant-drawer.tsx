import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { Drawer } from "@/components/ui/drawer";
import { TextField } from "@/components/ui/fields";
import { SecretOnce } from "@/components/ui/secret-once";
import { ErrorNote } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";

import type { Tenant } from "./queries";
import { TenantBadge } from "./tenants-page";

/** One tenant: what it is called, whether it is open, and the way back in when its keys are lost. */
export function TenantDrawer({ tenant: first, onClose }: { tenant: Tenant; onClose: () => void }) {
  const client = useQueryClient();
  const [tenant, setTenant] = useState(first);
  const [title, setTitle] = useState(first.title);
  const path = { params: { path: { id: tenant.id } } };
  const settled = () => client.invalidateQueries({ queryKey: ["tenants"] });
  const save = useMutation({
    mutationFn: (body: { title?: string; disabled?: boolean }) => unwrap(api.PATCH("/api/v1/tenants/{id}", { ...path, body })),
    onSuccess: (saved) => {
      setTenant(saved);
      toast("Saved.");
    },
    onSettled: settled,
  });
  const recover = useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/tenants/{id}/recover", path)),
    onSettled: settled,
  });
  const failed = [save, recover].find((one) => one.isError);
  // The server is run from this one: it is recovered at start, and never switched off.
  const runsTheServer = tenant.id === "default";
  return (
    <Drawer
      open
      onClose={onClose}
      badges={<TenantBadge disabled={tenant.disabled} />}
      title={<span className="break-all font-mono text-lg">{tenant.id}</span>}
      footer={
        <>
          {runsTheServer ? (
            <span />
          ) : tenant.disabled ? (
            <Button disabled={save.isPending} onClick={() => save.mutate({ disabled: false })}>
              Open it again
            </Button>
          ) : (
            <ConfirmButton title="Switch off…" sure="Yes, let nobody of it in" disabled={save.isPending} onSure={() => save.mutate({ disabled: true })} />
          )}
          <Button look="primary" disabled={save.isPending || title.trim() === ""} onClick={() => save.mutate({ title: title.trim() })}>
            {save.isPending ? "Saving…" : "Save"}
          </Button>
        </>
      }
    >
      {failed ? <ErrorNote error={failed.error} /> : null}
      <TextField label="What people call it" value={title} onChange={setTitle} maxLength={120} />
      {runsTheServer ? null : recover.data ? (
        <SecretOnce secret={recover.data.admin_key} label="Key">
          A new key of its user:admin. Copy it now: it is not stored here and can’t be shown again.
        </SecretOnce>
      ) : (
        <section aria-label="Its keys are lost" className="space-y-3 rounded-xl border border-line p-5">
          <h3 className="text-sm font-semibold">Its keys are lost</h3>
          <p className="text-sm text-ink-3">
            Make a new key for its user:admin, who is switched on and an administrator again. Its own record says that you did.
          </p>
          <ConfirmButton title="Let it in again…" sure="Yes, make a key" disabled={recover.isPending} onSure={() => recover.mutate()} />
        </section>
      )}
    </Drawer>
  );
}
