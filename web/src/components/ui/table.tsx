import { ChevronDown, ChevronsUpDown, ChevronUp } from "lucide-react";
import { type ReactNode, useState } from "react";

import { cn } from "@/lib/cn";

/** A column: what it is called, what stands in it, and what it is ordered by. */
export type Column<Row> = {
  key: string;
  title: ReactNode;
  cell: (row: Row) => ReactNode;
  /** What to sort by; without it the column can't be sorted. */
  sort?: (row: Row) => string | number;
  /** Figures stand on the right. */
  numeric?: boolean;
  className?: string;
};

const headCell = "whitespace-nowrap px-5 py-2.5 text-left text-xs font-medium text-ink-3 max-sm:px-4";
const bodyCell = "px-5 py-3 text-sm text-ink-2 max-sm:px-4";

/** The classes of a cell, for tables that draw their own rows. */
export const cellLook = { head: headCell, body: bodyCell };

/**
 * The one table. Sorts what it has; where rows come in pages, leave `sort` out and let the server order them. The cell
 * that names a row holds the real link or button, stretched over the row with `after:absolute after:inset-0`.
 */
export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
}: {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
}) {
  const [order, setOrder] = useState<{ key: string; down: boolean } | null>(null);
  const by = columns.find((column) => column.key === order?.key)?.sort;
  const sorted = by ? [...rows].sort((a, b) => compare(by(a), by(b)) * (order?.down ? -1 : 1)) : rows;
  return (
    <div className="overflow-x-auto" role="region" aria-label={label} tabIndex={0}>
      <table className="w-full border-collapse">
        <thead className="border-y border-line bg-sunken">
          <tr>
            {columns.map((column) => {
              const now = order?.key === column.key ? order : null;
              return (
                <th
                  key={column.key}
                  scope="col"
                  aria-sort={column.sort ? (now ? (now.down ? "descending" : "ascending") : "none") : undefined}
                  className={cn(headCell, column.numeric && "text-right", column.className)}
                >
                  {column.sort ? (
                    <button
                      type="button"
                      className="inline-flex min-h-6 items-center gap-1 rounded-sm hover:text-ink"
                      onClick={() => setOrder({ key: column.key, down: now ? !now.down : Boolean(column.numeric) })}
                    >
                      {column.title}
                      {now ? (
                        now.down ? (
                          <ChevronDown aria-hidden className="size-3.5" />
                        ) : (
                          <ChevronUp aria-hidden className="size-3.5" />
                        )
                      ) : (
                        <ChevronsUpDown aria-hidden className="size-3.5" />
                      )}
                    </button>
                  ) : (
                    column.title
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={rowKey(row)} className="relative border-b border-line last:border-0 hover:bg-hover/60">
              {columns.map((column) => (
                <td
                  key={column.key}
                  className={cn(bodyCell, column.numeric && "text-right tabular-nums", column.className)}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function compare(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}
