import type { Change } from "@/components/ui/diff-rows";

import { type Approval, inputOf } from "./queries";

/** What a person changed of the input, field by field. Empty when nobody did. */
export function editedFields(approval: Approval): Change[] {
  return compared(approval.input as Record<string, unknown>, inputOf(approval));
}

/** The fields in which two objects differ, whatever the order of their keys. */
export function compared(before: Record<string, unknown>, after: Record<string, unknown>): Change[] {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return fields
    .filter((field) => stable(before[field]) !== stable(after[field]))
    .map((field) => ({ field, before: before[field], after: after[field] }));
}

function stable(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) =>
      part !== null && typeof part === "object" && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
    ) ?? "undefined"
  );
}
