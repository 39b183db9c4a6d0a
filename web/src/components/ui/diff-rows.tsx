import { ArrowRight } from "lucide-react";

import { clipped } from "@/lib/visible";

/** One field that would change. `undefined` means: not there. */
export type Change = { field: string; before?: unknown; after?: unknown };

/** As much of a value as can be read beside another one. */
const MOST = 600;
const show = (value: unknown): string => clipped(typeof value === "string" ? value : (JSON.stringify(value) ?? ""), MOST);
const missing = (value: unknown): boolean => value === undefined || value === null || value === "";

/** What would change, field by field: what was is struck out, what will be stands beside it. */
export function DiffRows({ changes, label }: { changes: Change[]; label: string }) {
  return (
    <ul aria-label={label} className="divide-y divide-line rounded-xl border border-line">
      {changes.map((change) => (
        <li
          key={change.field}
          className="grid grid-cols-[minmax(0,5fr)_minmax(0,6fr)] items-center gap-4 px-4 py-2.5 font-mono text-xs max-sm:grid-cols-1 max-sm:gap-1"
        >
          <span className="break-all text-ink-3">{clipped(change.field, 200)}</span>
          <span className="flex flex-wrap items-center gap-2">
            {missing(change.before) ? (
              <span className="text-ink-2">empty</span>
            ) : (
              <del className="break-all rounded-sm bg-danger-soft px-1.5 py-0.5 text-danger-ink">{show(change.before)}</del>
            )}
            {missing(change.after) ? (
              <span className="text-danger-ink">removed</span>
            ) : (
              <>
                <ArrowRight aria-label="becomes" className="size-3.5 text-ink-3" />
                <ins className="break-all rounded-sm bg-ok-soft px-1.5 py-0.5 text-ok-ink no-underline">{show(change.after)}</ins>
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
