import { lazy, Suspense, useState } from "react";

import { api, unwrap } from "@/api/client";
import { expecting } from "@/api/pages";
import { DocumentDrawer } from "@/components/ui/document-drawer";
import { SwitchField, TextField } from "@/components/ui/fields";
import { Skeleton } from "@/components/ui/skeleton";
import { boundsBody, BoundsFields, boundsOf, boundsReady } from "@/limits/bounds";

import type { Profile } from "./queries";

const JsonEditor = lazy(() => import("@/components/ui/json-editor").then((module) => ({ default: module.JsonEditor })));

/** The object a text says; none when it is empty, `null` when it says no object. */
function objectOf(text: string): Record<string, never> | null | undefined {
  if (text.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, never>) : null;
  } catch {
    return null;
  }
}

/** Writes a profile. */
export function ProfileDrawer({ profile, onClose, again }: { profile: Profile | null; onClose: () => void; again?: () => void }) {
  const [name, setName] = useState(profile?.name ?? "");
  const [description, setDescription] = useState(profile?.description ?? "");
  const [asks, setAsks] = useState(profile?.approval === "always_ask");
  const [bounds, setBounds] = useState(boundsOf(profile));
  const [schema, setSchema] = useState(profile?.arguments ? JSON.stringify(profile.arguments, null, 2) : "");
  const args = objectOf(schema);
  const path = { name };
  return (
    <DocumentDrawer
      title={profile ? <span className="break-all font-mono text-lg">{profile.name}</span> : "New profile"}
      description="Every field can only make things stricter. It holds for each agent and tool by itself."
      seen={profile}
      again={again}
      ready={name.trim() !== "" && boundsReady(bounds).right && args !== null}
      queryKey={["profiles"]}
      onClose={onClose}
      save={() =>
        unwrap(
          api.PUT("/api/v1/profiles/{name}", {
            params: { path, header: expecting(profile?.revision) },
            body: { description, approval: asks ? "always_ask" : undefined, arguments: args ?? undefined, ...boundsBody(bounds) },
          }),
        )
      }
      remove={
        profile ? () => unwrap(api.DELETE("/api/v1/profiles/{name}", { params: { path, header: expecting(profile.revision) } })) : undefined
      }
    >
      {profile ? null : <TextField label="Name" hint="Lower-case letters, digits and dashes." value={name} onChange={setName} maxLength={64} mono />}
      <TextField label="What it is for" optional value={description} onChange={setDescription} maxLength={500} />
      <SwitchField label="Always ask a person" hint="Every such call waits, whatever policy says." checked={asks} onChange={setAsks} />
      <BoundsFields bounds={bounds} onChange={setBounds} />
      <div>
        <p className="text-sm font-medium">
          What the input must be like<span className="ml-1.5 font-normal text-ink-3">optional</span>
        </p>
        <p className="mb-1.5 text-xs text-ink-3">A JSON Schema, besides the tool’s own. An amount of at most 100 would be a maximum here.</p>
        <Suspense fallback={<Skeleton className="h-40" />}>
          <JsonEditor value={schema} onChange={setSchema} label="Schema of the input" />
        </Suspense>
        {args === null ? <p className="mt-1 text-xs text-danger-ink">This is no JSON object.</p> : null}
      </div>
    </DocumentDrawer>
  );
}
