import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { expecting } from "@/api/pages";
import { Button } from "@/components/ui/button";
import { Drawer } from "@/components/ui/drawer";
import { TextField } from "@/components/ui/fields";
import { ErrorNote } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { counted } from "@/lib/format";

import { draftOf, isWhole, requestOf, UpstreamFields } from "./upstream-fields";

/** Writes a server down and looks at its tools. */
export function AddUpstream({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [draft, setDraft] = useState(() => draftOf(null));
  const add = useMutation({
    mutationFn: async () => {
      await unwrap(
        api.PUT("/api/v1/upstreams/{name}", { params: { path: { name }, header: expecting(null) }, body: requestOf(draft, null) }),
      );
      // A server that has to be connected first can't be looked at yet; it is written all the same.
      return unwrap(api.POST("/api/v1/upstreams/{name}/refresh", { params: { path: { name } } })).catch(() => null);
    },
    onSuccess: (looked) => {
      toast(looked ? `Added. ${counted(looked.new.length, "tool")} to review.` : "Added. It did not answer yet: see its health.");
      void navigate({ to: "/upstreams", search: looked && looked.new.length > 0 ? { tab: "review" } : { server: name } });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["upstreams"] }),
  });
  const ready = /^[a-z0-9][a-z0-9_-]{0,23}$/.test(name) && isWhole(draft);
  return (
    <Drawer
      open
      onClose={onClose}
      title="Add an MCP server"
      description="It is written down and asked for its tools. None of them is on before it is reviewed."
      footer={
        <>
          <p className="min-w-0 flex-1 text-xs text-ink-3">
            {draft.kind === "stdio" ? "The program runs on the gate’s machine, never by a shell." : "Addresses inside your network need the operator’s leave."}
          </p>
          <Button look="primary" disabled={!ready || add.isPending} onClick={() => add.mutate()}>
            {add.isPending ? "Connecting…" : "Add and look"}
          </Button>
        </>
      }
    >
      {add.isError ? <ErrorNote error={add.error} /> : null}
      <TextField
        label="Name"
        hint="Stands in its tools’ ids, as in mcp__name__tool. Up to 24 lower-case letters, digits and dashes."
        value={name}
        onChange={setName}
        maxLength={24}
        mono
      />
      <UpstreamFields draft={draft} change={(next) => setDraft((before) => ({ ...before, ...next }))} />
    </Drawer>
  );
}
