import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Drawer } from "@/components/ui/drawer";
import { ChoiceField, TextField } from "@/components/ui/fields";
import { ErrorNote } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { principalsQuery } from "@/principals/queries";
import { registryQuery } from "@/registry/queries";

import { killWords } from "./queries";

/** Throws a switch. The reason is asked for in place. */
export function ThrowKill({ kind: given, target: named, onClose }: { kind?: string; target?: string; onClose: () => void }) {
  const client = useQueryClient();
  const [kind, setKind] = useState(given && given in killWords ? given : "tool");
  const [target, setTarget] = useState(named ?? "");
  const [reason, setReason] = useState("");
  const tools = useQuery(registryQuery);
  const principals = useInfiniteQuery(principalsQuery());
  const stop = useMutation({
    mutationFn: () =>
      unwrap(api.POST("/api/v1/kills", { body: { kind, target: kind === "tenant" ? undefined : target.trim(), reason: reason.trim() } })),
    onSuccess: (thrown) => {
      toast(thrown.known === false ? "Stopped. Nothing of that name is known here: check the name." : "Stopped.");
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["kills"] }),
  });
  const suggestions =
    kind === "tool"
      ? tools.data?.map((tool) => tool.id)
      : kind === "principal"
        ? principals.data?.pages.flatMap((page) => page.principals.map((one) => one.id))
        : undefined;
  return (
    <Drawer
      open
      onClose={onClose}
      title="Stop something"
      description="It is refused from this moment on, until someone lifts the switch. Calls that wait do not run; what has run stays as it is."
      footer={
        <>
          <span />
          <Button look="danger" disabled={reason.trim() === "" || (kind !== "tenant" && target.trim() === "") || stop.isPending} onClick={() => stop.mutate()}>
            {kind === "tenant" ? "Stop every call" : "Stop it now"}
          </Button>
        </>
      }
    >
      {stop.isError ? <ErrorNote error={stop.error} /> : null}
      <ChoiceField
        label="What"
        value={kind}
        onChange={(next) => {
          setKind(next);
          setTarget("");
        }}
        options={Object.entries(killWords).map(([value, title]) => ({ value, title }))}
      />
      {kind === "tenant" ? (
        <p className="text-sm text-ink-2">Every call in your tenant is refused. Signing in and managing go on.</p>
      ) : (
        <TextField key={kind} label="Which" hint="Its id." mono value={target} onChange={setTarget} suggestions={suggestions} />
      )}
      <TextField label="Why" hint="Those whose calls are refused read it." value={reason} onChange={setReason} maxLength={500} />
    </Drawer>
  );
}
