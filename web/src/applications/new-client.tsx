import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Drawer } from "@/components/ui/drawer";
import { ChecksField, LinesField, SwitchField, TextField } from "@/components/ui/fields";
import { SecretOnce } from "@/components/ui/secret-once";
import { ErrorNote } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { linesOf } from "@/lib/search";

import { scopeWords } from "./queries";

/** Names an application; its secret, if it gets one, is shown once. */
export function NewClient({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const [back, setBack] = useState("");
  const [scopes, setScopes] = useState<string[]>([]);
  const [confidential, setConfidential] = useState(false);
  const make = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST("/api/v1/oauth/clients", {
          body: { id: id.trim(), name: name.trim(), redirect_uris: linesOf(back), scopes, confidential },
        }),
      ),
    onSuccess: (made) => {
      if (made.secret) return;
      toast("Named. People can let it in.");
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["oauth"] }),
  });
  const secret = make.data?.secret;
  return (
    <Drawer
      open
      onClose={onClose}
      title={secret ? "The application’s secret" : "Name an application"}
      description={secret ? undefined : "People then see this name when it asks them to be let in."}
      footer={
        <>
          <span />
          {secret ? (
            <Button look="primary" onClick={onClose}>
              I have kept it
            </Button>
          ) : (
            <Button look="primary" disabled={!id.trim() || !name.trim() || linesOf(back).length === 0 || make.isPending} onClick={() => make.mutate()}>
              Save
            </Button>
          )}
        </>
      }
    >
      {secret ? (
        <SecretOnce secret={secret} label="Client secret">
          Copy it now: it is not stored here and can’t be shown again.
        </SecretOnce>
      ) : (
        <>
          {make.isError ? <ErrorNote error={make.error} /> : null}
          <TextField label="Client id" mono value={id} onChange={setId} maxLength={120} />
          <TextField label="What people call it" value={name} onChange={setName} maxLength={120} />
          <LinesField
            label="Where people may be sent back to"
            hint="One address on each line: https, or http on this machine alone."
            value={back}
            onChange={setBack}
          />
          <ChecksField
            label="The most it may ask for"
            hint="None chosen means all."
            chosen={scopes}
            onChange={setScopes}
            options={Object.entries(scopeWords).map(([value, title]) => ({ value, title }))}
          />
          <SwitchField label="It gets a secret" hint="For programs on a server. Desktop applications can’t keep one." checked={confidential} onChange={setConfidential} />
        </>
      )}
    </Drawer>
  );
}
