import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { expecting } from "@/api/pages";
import { DocumentDrawer } from "@/components/ui/document-drawer";
import { LinesField, TextField } from "@/components/ui/fields";
import { linesOf } from "@/lib/search";

import type { Role } from "./queries";

/** Writes a role. */
export function RoleDrawer({ role, onClose, again }: { role: Role | null; onClose: () => void; again?: () => void }) {
  const [name, setName] = useState(role?.name ?? "");
  const [description, setDescription] = useState(role?.description ?? "");
  const [rules, setRules] = useState(role?.rules.join("\n") ?? "");
  // A built-in role as it comes has no revision: writing it is writing a new one.
  const revision = role?.revision ?? null;
  const path = { name };
  return (
    <DocumentDrawer
      title={role ? <span className="break-all font-mono text-lg">{role.name}</span> : "New role"}
      description={
        role?.built_in
          ? role.own
            ? "Every tenant has a role of this name; here it was rewritten. Removing it brings the one it comes with back."
            : "It comes with every tenant. Saving writes your tenant’s own in its place."
          : "Who has it holds its rules from the next call on."
      }
      seen={role}
      again={again}
      ready={name.trim() !== ""}
      queryKey={["roles"]}
      onClose={onClose}
      save={() =>
        unwrap(
          api.PUT("/api/v1/roles/{name}", {
            params: { path, header: expecting(revision) },
            body: { description, rules: linesOf(rules) },
          }),
        )
      }
      remove={
        role?.own
          ? () => unwrap(api.DELETE("/api/v1/roles/{name}", { params: { path, header: { "If-Match": `"${revision}"` } } }))
          : undefined
      }
      removeWords={
        role?.built_in
          ? { title: "Bring the built-in one back…", sure: "Yes, bring it back", done: "The built-in role holds again." }
          : { title: "Remove…", sure: "Yes, whoever has it loses it", done: "Removed." }
      }
    >
      {role ? null : <TextField label="Name" hint="Lower-case letters, digits and dashes." value={name} onChange={setName} maxLength={64} mono />}
      <TextField label="What it is for" optional value={description} onChange={setDescription} maxLength={500} />
      <LinesField
        label="Access rules"
        hint="One on each line: plugin.resource.level, such as crm.contacts.read; * gives everything."
        optional
        value={rules}
        onChange={setRules}
      />
    </DocumentDrawer>
  );
}
