import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Drawer } from "@/components/ui/drawer";
import { TextField } from "@/components/ui/fields";
import { ErrorNote } from "@/components/ui/states";

/** Begins to link this person with who they are in another tenant: they sign in there next. */
export function AddOrganisation({ onClose }: { onClose: () => void }) {
  const [tenant, setTenant] = useState("");
  const begin = useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/me/tenants/add", { body: { tenant: tenant.trim() } })),
    onSuccess: (begun) => window.location.assign(begun.sign_in),
  });
  return (
    <Drawer
      open
      onClose={onClose}
      title="Add another organisation"
      description="You sign in there next, and are asked whether to link both. That is the only proof that counts: the same name or address in two places means nothing."
      footer={
        <>
          <span />
          <Button look="primary" disabled={tenant.trim() === "" || begin.isPending} onClick={() => begin.mutate()}>
            {begin.isPending ? "Going there…" : "Sign in there"}
          </Button>
        </>
      }
    >
      {begin.isError ? <ErrorNote error={begin.error} /> : null}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (tenant.trim() !== "") begin.mutate();
        }}
      >
        <TextField
          label="Its name in addresses"
          hint="Such as acme. Whoever invited you there knows it."
          value={tenant}
          onChange={setTenant}
          maxLength={63}
          mono
        />
      </form>
      <p className="text-sm text-ink-3">
        The administrators of both organisations see that you are linked, and can end it. A new password in one of them ends what the
        old one has linked.
      </p>
    </Drawer>
  );
}
