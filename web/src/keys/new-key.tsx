import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { holds, meQuery } from "@/api/queries";
import { Button } from "@/components/ui/button";
import { Drawer } from "@/components/ui/drawer";
import { ChoiceField, LinesField, SwitchField, TextField } from "@/components/ui/fields";
import { SecretOnce } from "@/components/ui/secret-once";
import { ErrorNote } from "@/components/ui/states";
import { linesOf } from "@/lib/search";
import { principalsQuery } from "@/principals/queries";

const DAY = 86_400;

/** Makes a key and shows it, once. */
export function NewKey({ principal: given, onClose }: { principal?: string; onClose: () => void }) {
  const client = useQueryClient();
  const me = useQuery(meQuery);
  const manages = holds(me.data?.rules, "*");
  const principals = useInfiniteQuery({ ...principalsQuery(), enabled: manages });
  const [principal, setPrincipal] = useState(given ?? "");
  const [label, setLabel] = useState("");
  const [scopes, setScopes] = useState("");
  const [ends, setEnds] = useState("90");
  const [onBehalf, setOnBehalf] = useState(false);
  const make = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST("/api/v1/keys", {
          body: {
            principal: principal.trim() || undefined,
            label: label.trim(),
            scopes: linesOf(scopes),
            expires_in_seconds: ends === "never" ? undefined : Number(ends) * DAY,
            on_behalf: onBehalf,
          },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["keys"] }),
  });
  const other = principal.trim() !== "" && !principal.trim().startsWith("user:");
  return (
    <Drawer
      open
      onClose={onClose}
      title={make.data ? "Your new key" : "New key"}
      description={make.data ? undefined : "It can do at most what its principal may do, and no more than its scopes say."}
      footer={
        make.data ? (
          <>
            <span />
            <Button look="primary" onClick={onClose}>
              I have kept it
            </Button>
          </>
        ) : (
          <>
            <span />
            <Button look="primary" disabled={label.trim() === "" || make.isPending} onClick={() => make.mutate()}>
              {make.isPending ? "Making…" : "Make the key"}
            </Button>
          </>
        )
      }
    >
      {make.data ? (
        <SecretOnce secret={make.data.secret} label="Key">
          Copy it now and keep it where secrets are kept. It is not stored here and can’t be shown again.
        </SecretOnce>
      ) : (
        <>
          {make.isError ? <ErrorNote error={make.error} /> : null}
          <TextField label="What people call it" hint="Where it is used, such as “nightly report”." value={label} onChange={setLabel} maxLength={120} />
          <TextField
            label="Whom it speaks for"
            hint="A user, agent or service. Empty means you."
            optional
            mono
            value={principal}
            onChange={setPrincipal}
            suggestions={principals.data?.pages.flatMap((page) => page.principals.map((one) => one.id))}
          />
          {other ? (
            <SwitchField
              label="It works for you with this key"
              hint="What it does counts as done for you. It must be one that may work for you."
              checked={onBehalf}
              onChange={setOnBehalf}
            />
          ) : null}
          <LinesField
            label="Scopes"
            hint="One on each line: tool:core__*, effect:read, rule:…, approve, manage or manage:area. Empty means all its principal may."
            optional
            value={scopes}
            onChange={setScopes}
          />
          <ChoiceField
            label="Ends"
            value={ends}
            onChange={setEnds}
            options={[
              { value: "30", title: "In 30 days" },
              { value: "90", title: "In 90 days" },
              { value: "365", title: "In a year" },
              { value: "never", title: "Never" },
            ]}
          />
        </>
      )}
    </Drawer>
  );
}
