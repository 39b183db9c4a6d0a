import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { expecting } from "@/api/pages";
import { DocumentDrawer } from "@/components/ui/document-drawer";
import { LinesField, TextField } from "@/components/ui/fields";
import { Field } from "@/components/ui/input";
import { Select } from "@/components/ui/select";
import { linesOf } from "@/lib/search";

import { boundsBody, BoundsFields, boundsOf, boundsReady } from "./bounds";
import type { Limit } from "./queries";

/** What has a measure of its own. */
export const perWords: Record<string, string> = {
  tenant: "All together",
  principal: "Each caller by itself",
  tool: "Each tool by itself",
  principal_and_tool: "Each caller and tool by itself",
};

/** Writes a limit. */
export function LimitDrawer({ limit, onClose, again }: { limit: Limit | null; onClose: () => void; again?: () => void }) {
  const [name, setName] = useState(limit?.name ?? "");
  const [description, setDescription] = useState(limit?.description ?? "");
  const [principals, setPrincipals] = useState(limit?.principals.join("\n") ?? "");
  const [tools, setTools] = useState(limit?.tools.join("\n") ?? "");
  const [per, setPer] = useState(limit?.per ?? "principal");
  const [bounds, setBounds] = useState(boundsOf(limit));
  const { some, right } = boundsReady(bounds);
  const path = { name };
  return (
    <DocumentDrawer
      title={limit ? <span className="break-all font-mono text-lg">{limit.name}</span> : "New limit"}
      description="At least one of the three measures. It holds from the next call on."
      seen={limit}
      again={again}
      ready={name.trim() !== "" && some && right}
      queryKey={["limits"]}
      onClose={onClose}
      save={() =>
        unwrap(
          api.PUT("/api/v1/limits/{name}", {
            params: { path, header: expecting(limit?.revision) },
            body: { description, principals: linesOf(principals), tools: linesOf(tools), per, ...boundsBody(bounds) },
          }),
        )
      }
      remove={limit ? () => unwrap(api.DELETE("/api/v1/limits/{name}", { params: { path, header: expecting(limit.revision) } })) : undefined}
    >
      {limit ? null : <TextField label="Name" hint="Lower-case letters, digits and dashes." value={name} onChange={setName} maxLength={64} mono />}
      <TextField label="What it is for" optional value={description} onChange={setDescription} maxLength={500} />
      <BoundsFields bounds={bounds} onChange={setBounds} />
      <Field id="limit-per" label="How it is counted">
        {(aria) => (
          <Select {...aria} value={per} onChange={(event) => setPer(event.target.value)}>
            {Object.entries(perWords).map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <LinesField label="Whose calls" hint="One on each line, such as agent:* for all agents. Empty means everyone’s." optional value={principals} onChange={setPrincipals} />
      <LinesField label="Of which tools" hint="Ids, or the start of ids and *. Empty means all." optional value={tools} onChange={setTools} />
    </DocumentDrawer>
  );
}
