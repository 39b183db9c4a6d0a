import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { expecting } from "@/api/pages";
import { DocumentDrawer } from "@/components/ui/document-drawer";

import { type Upstream, upstreamQuery } from "./queries";
import { type Draft, draftOf, isWhole, requestOf, UpstreamFields } from "./upstream-fields";

/** Writes a known server anew. Where it moves, what was accepted of it waits for another look. */
export function ChangeUpstream({ upstream, onClose, again }: { upstream: Upstream; onClose: () => void; again: () => void }) {
  const client = useQueryClient();
  const [draft, setDraft] = useState(() => draftOf(upstream));
  const save = async () => {
    const written = await unwrap(
      api.PUT("/api/v1/upstreams/{name}", {
        params: { path: { name: upstream.name }, header: expecting(upstream.revision) },
        body: requestOf(draft, upstream),
      }),
    );
    client.setQueryData(upstreamQuery(upstream.name).queryKey, written);
  };
  return (
    <DocumentDrawer
      title={<span className="break-all font-mono text-lg">{upstream.name}</span>}
      description="With another address, program or argument its tools wait until they are accepted again, and its connection has to be made anew."
      seen={upstream}
      again={again}
      ready={isWhole(draft)}
      queryKey={["upstreams"]}
      onClose={onClose}
      save={save}
    >
      <UpstreamFields draft={draft} change={(next: Partial<Draft>) => setDraft((before) => ({ ...before, ...next }))} />
    </DocumentDrawer>
  );
}
