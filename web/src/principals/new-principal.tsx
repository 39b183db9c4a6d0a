import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Drawer } from "@/components/ui/drawer";
import { TextField } from "@/components/ui/fields";
import { ErrorNote } from "@/components/ui/states";
import { linesOf } from "@/lib/search";

import { type Holdings, HoldingsFields } from "./holdings";
import type { PrincipalKind } from "./queries";

const titles: Record<PrincipalKind, string> = { user: "New user", agent: "New agent", service: "New service" };

/** Makes a user, an agent or a service, and goes on to it. */
export function NewPrincipal({ kind, onClose }: { kind: PrincipalKind; onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [held, setHeld] = useState<Holdings>({ title: "", roles: kind === "user" ? ["member"] : [], rules: "", actsFor: "" });
  const make = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST("/api/v1/principals", {
          body: {
            id: `${kind}:${name.trim()}`,
            title: held.title || undefined,
            roles: held.roles,
            rules: linesOf(held.rules),
            acts_for: linesOf(held.actsFor),
          },
        }),
      ),
    onSuccess: (made) => void navigate({ to: "/principals", search: { kind: kind === "user" ? undefined : kind, id: made.id } }),
    onSettled: () => client.invalidateQueries({ queryKey: ["principals"] }),
  });
  return (
    <Drawer
      open
      onClose={onClose}
      title={titles[kind]}
      description={kind === "user" ? "Then make the invitation that lets them choose a password." : "Then make a key for it, under API keys."}
      footer={
        <>
          <span />
          <Button look="primary" disabled={name.trim() === "" || make.isPending} onClick={() => make.mutate()}>
            {make.isPending ? "Saving…" : "Save"}
          </Button>
        </>
      }
    >
      {make.isError ? <ErrorNote error={make.error} /> : null}
      <TextField
        label={kind === "user" ? "Login" : "Name"}
        hint={kind === "user" ? "A name or an e-mail address; what they sign in with." : `Its id becomes ${kind}:${name.trim() || "name"}.`}
        value={name}
        onChange={setName}
        maxLength={120}
        mono
      />
      <HoldingsFields kind={kind} value={held} onChange={setHeld} />
    </Drawer>
  );
}
