import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { useHolds } from "@/api/queries";
import { Button } from "@/components/ui/button";
import { Drawer } from "@/components/ui/drawer";
import { ChoiceField, SwitchField, TextField } from "@/components/ui/fields";
import { ErrorNote } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { upstreamsQuery } from "@/upstreams/queries";

import { useConnect } from "./connect";
import type { Connection } from "./queries";

/** Logs in at a service, or keeps a secret for it: a first one, or another in the place of one that is known. */
export function NewConnection({ service: given, before, onClose }: { service?: string; before?: Connection; onClose: () => void }) {
  const client = useQueryClient();
  const manages = useHolds("*");
  const upstreams = useQuery({ ...upstreamsQuery, enabled: manages });
  const [service, setService] = useState(before?.service ?? given ?? "");
  const [how, setHow] = useState(before && before.kind !== "oauth" ? before.kind : "login");
  const [name, setName] = useState(before?.name ?? "");
  const [secret, setSecret] = useState("");
  const [shared, setShared] = useState(before?.owner === "shared");
  const connect = useConnect();
  const keep = useMutation({
    mutationFn: () =>
      unwrap(
        api.PUT("/api/v1/connections/{service}", {
          params: { path: { service: service.trim() } },
          body: { kind: how, name: how === "token" ? undefined : name.trim(), secret, shared },
        }),
      ),
    onSuccess: () => {
      toast("Kept. It is never shown again.");
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["connections"] }),
  });
  const busy = connect.isPending || keep.isPending;
  const failed = connect.isError ? connect.error : keep.isError ? keep.error : null;
  const ready = service.trim() !== "" && (how === "login" || (secret !== "" && (how === "token" || name.trim() !== "")));
  return (
    <Drawer
      open
      onClose={onClose}
      title={before ? "Connect it again" : "Connect a service"}
      description={before ? "What opened it until now is replaced." : undefined}
      footer={
        <>
          <p className="min-w-0 flex-1 text-xs text-ink-3">
            {how === "login" ? "You go to the service, say yes there, and come back." : "It is sealed at once, and sent to this service only."}
          </p>
          <Button
            look="primary"
            disabled={!ready || busy}
            onClick={() => (how === "login" ? connect.mutate({ service: service.trim(), shared }) : keep.mutate())}
          >
            {how === "login" ? "Log in there" : "Keep it"}
          </Button>
        </>
      }
    >
      {failed ? <ErrorNote error={failed} /> : null}
      <TextField
        label="Service"
        hint="An MCP server called notes is the service mcp:notes."
        mono
        value={service}
        onChange={setService}
        readOnly={before !== undefined}
        suggestions={upstreams.data?.filter((one) => one.auth !== "none").map((one) => `mcp:${one.name}`)}
      />
      <ChoiceField
        label="How it is opened"
        value={how}
        onChange={(next) => {
          setHow(next);
          setSecret("");
        }}
        options={[
          { value: "login", title: "Log in" },
          { value: "token", title: "Token" },
          { value: "header", title: "Header" },
          { value: "env", title: "Variable" },
        ]}
      />
      {how === "header" || how === "env" ? (
        <TextField label={how === "header" ? "Name of the header" : "Name of the variable"} mono value={name} onChange={setName} />
      ) : null}
      {how === "login" ? null : <TextField label="Secret" type="password" mono value={secret} onChange={setSecret} />}
      {manages && !before ? (
        <SwitchField label="For everyone" hint="All callers use it; otherwise it is your own." checked={shared} onChange={setShared} />
      ) : null}
    </Drawer>
  );
}
