import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { Drawer } from "@/components/ui/drawer";
import { Facts, Words } from "@/components/ui/facts";
import { RelativeTime } from "@/components/ui/relative-time";
import { ErrorNote } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { principalName } from "@/lib/format";
import { visible } from "@/lib/visible";

import type { OauthClient } from "./queries";

/** One application that was named here. */
export function ClientDrawer({ client: shown, onClose }: { client: OauthClient; onClose: () => void }) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/v1/oauth/clients/{id}", { params: { path: { id: shown.id } } })),
    onSuccess: () => {
      toast("Taken away, with whatever people let it do.");
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["oauth"] }),
  });
  return (
    <Drawer
      open
      onClose={onClose}
      title={<span className="break-all">{visible(shown.name)}</span>}
      footer={
        <ConfirmButton title="Take it away…" sure="Yes, and shut it out everywhere" disabled={remove.isPending} onSure={() => remove.mutate()} />
      }
    >
      {remove.isError ? <ErrorNote error={remove.error} /> : null}
      <Facts
        facts={[
          ["Client id", <code key="id" className="break-all font-mono text-xs">{shown.id}</code>],
          ["Proves who it is", shown.confidential ? "By a secret" : "By PKCE alone"],
          ["May ask for", <Words key="scopes" words={shown.scopes} none="Everything there is" />],
          ["Sends back to", <Words key="back" words={shown.redirect_uris} none="Nowhere" />],
          ["Named by", <span key="by">{principalName(shown.created_by).name} <RelativeTime at={shown.created_at} className="text-ink-3" /></span>],
        ]}
      />
    </Drawer>
  );
}
