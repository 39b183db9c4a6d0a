import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Drawer } from "@/components/ui/drawer";
import { TextField } from "@/components/ui/fields";
import { SecretOnce } from "@/components/ui/secret-once";
import { ErrorNote } from "@/components/ui/states";

/** Makes a tenant and shows its first administrator's key, once. */
export function NewTenant({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [id, setId] = useState("");
  const [title, setTitle] = useState("");
  const make = useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/tenants", { body: { id: id.trim(), title: title.trim() || undefined } })),
    onSettled: () => client.invalidateQueries({ queryKey: ["tenants"] }),
  });
  return (
    <Drawer
      open
      onClose={onClose}
      title={make.data ? "Its administrator’s key" : "New tenant"}
      description={make.data ? undefined : "It begins with one administrator, user:admin, and a key for them."}
      footer={
        <>
          <span />
          {make.data ? (
            <Button look="primary" onClick={onClose}>
              I have kept it
            </Button>
          ) : (
            <Button look="primary" disabled={id.trim() === "" || make.isPending} onClick={() => make.mutate()}>
              {make.isPending ? "Making…" : "Make the tenant"}
            </Button>
          )}
        </>
      }
    >
      {make.data ? (
        <SecretOnce secret={make.data.admin_key} label="Key">
          {`Hand it to whoever administers ${make.data.tenant.title}, by a way you trust. It is not stored here and can’t be shown again.`}
        </SecretOnce>
      ) : (
        <>
          {make.isError ? <ErrorNote error={make.error} /> : null}
          <TextField
            label="Its name in addresses"
            hint="Lower-case letters, digits and -, such as acme. It is never changed."
            value={id}
            onChange={setId}
            maxLength={63}
            mono
          />
          <TextField label="What people call it" optional value={title} onChange={setTitle} maxLength={120} />
        </>
      )}
    </Drawer>
  );
}
