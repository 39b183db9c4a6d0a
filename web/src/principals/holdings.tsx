import { useInfiniteQuery } from "@tanstack/react-query";

import { ChecksField, LinesField, TextField } from "@/components/ui/fields";
import { rolesQuery } from "@/roles/queries";

/** What a principal is called and holds, as it is typed. */
export type Holdings = { title: string; roles: string[]; rules: string; actsFor: string };

/** The fields of what a principal holds. */
export function HoldingsFields({ kind, value, onChange }: { kind: string; value: Holdings; onChange: (value: Holdings) => void }) {
  const roles = useInfiniteQuery(rolesQuery);
  const known = roles.data?.pages.flatMap((page) => page.roles.map((role) => role.name)) ?? [];
  // A role that was taken away is still shown where it is held, to be let go.
  const names = [...new Set([...known, ...value.roles])];
  return (
    <>
      <TextField label="What people call it" optional value={value.title} onChange={(title) => onChange({ ...value, title })} maxLength={120} />
      <ChecksField
        label="Roles"
        chosen={value.roles}
        onChange={(chosen) => onChange({ ...value, roles: chosen })}
        options={names.map((name) => ({ value: name, title: name }))}
      />
      <LinesField
        label="Access rules of its own"
        hint="One on each line, beside those of its roles. You can only give what you hold."
        optional
        value={value.rules}
        onChange={(rules) => onChange({ ...value, rules })}
      />
      {kind === "user" ? null : (
        <LinesField
          label="Whom it may work for"
          hint="Ids, or the start of ids and *: user:* means every person. Empty means nobody."
          optional
          value={value.actsFor}
          onChange={(actsFor) => onChange({ ...value, actsFor })}
        />
      )}
    </>
  );
}
