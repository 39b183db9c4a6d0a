import type { Change } from "@/components/ui/diff-rows";
import { stable } from "@/lib/json";
import { clipped } from "@/lib/visible";

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

/** Changes to read: nothing hidden in them, and none so long that the next is out of sight. The input has all of it. */
export function readable(changes: readonly Change[]): Change[] {
  const show = (value: unknown) =>
    value === undefined || value === null ? value : clipped(typeof value === "string" ? value : JSON.stringify(value), 400);
  return changes.map(({ field, before, after }) => ({ field: clipped(field, 200), before: show(before), after: show(after) }));
}
