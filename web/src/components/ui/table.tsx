import { ChevronDown, ChevronsUpDown, ChevronUp } from "lucide-react";
import { type ComponentProps, type ReactNode, useState } from "react";

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

export type TableProps<Row> = {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
};

const headCell = "whitespace-nowrap px-5 py-2.5 text-left text-xs font-medium text-ink-3 max-sm:px-4";
const bodyCell = "px-5 py-3 text-sm text-ink-2 max-sm:px-4";

/** The classes of a cell, for tables that draw their own rows. */
export const cellLook = { head: headCell, body: bodyCell };

/**
 * The one table. Sorts what it has; where rows come in pages, leave `sort` out and let the server order them. The cell
 * that names a row, its first, holds the real link or button, stretched over the row with `after:absolute after:inset-0`.
 * On a phone the other cells stand below it, each with its column's title; `figures` keeps the columns, to compare them.
 */
export function Table<Row>({ label, columns, rows, rowKey, figures }: TableProps<Row> & { figures?: boolean }) {
  const { order, setOrder, sorted } = useOrder(columns, rows);
  return (
    <div className="overflow-x-auto" role="region" aria-label={label} tabIndex={0}>
      <table role="table" className={cn("w-full border-collapse", !figures && "max-sm:block")}>
        <TableHead columns={columns} order={order} onOrder={setOrder} figures={figures} />
        <tbody role="rowgroup" className={figures ? undefined : "max-sm:block"}>
          {sorted.map((row) => (
            <TableRow key={rowKey(row)} columns={columns} row={row} figures={figures} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** By which column, and which way. */
export type Order = { key: string; down: boolean } | null;

/** Rows in the order a person chose. */
export function useOrder<Row>(columns: Column<Row>[], rows: Row[]): { order: Order; setOrder: (order: Order) => void; sorted: Row[] } {
  const [order, setOrder] = useState<Order>(null);
  const by = columns.find((column) => column.key === order?.key)?.sort;
  const sorted = by ? [...rows].sort((a, b) => compare(by(a), by(b)) * (order?.down ? -1 : 1)) : rows;
  return { order, setOrder, sorted };
}

export function TableHead<Row>({ columns, order, onOrder, figures }: {
  columns: Column<Row>[];
  order: Order;
  onOrder: (order: Order) => void;
  figures?: boolean;
}) {
  const sortable = columns.some((column) => column.sort);
  return (
    // Where cells stand below each other, only what sorts them is left of the head.
    <thead role="rowgroup" className={cn("border-y border-line bg-sunken", !figures && (sortable ? "max-sm:block" : "max-sm:hidden"))}>
      <tr role="row" className={figures ? undefined : "max-sm:flex max-sm:overflow-x-auto max-sm:px-2"}>
        {columns.map((column) => {
          const now = order?.key === column.key ? order : null;
          return (
            <th
              key={column.key}
              scope="col"
              role="columnheader"
              aria-sort={column.sort ? (now ? (now.down ? "descending" : "ascending") : "none") : undefined}
              className={cn(headCell, column.numeric && "text-right", column.className, !figures && (column.sort ? "max-sm:block max-sm:min-w-0 max-sm:px-2 max-sm:py-1.5" : "max-sm:hidden"))}
            >
              {column.sort ? (
                <button
                  type="button"
                  className="inline-flex min-h-6 items-center gap-1 rounded-sm hover:text-ink"
                  onClick={() => onOrder({ key: column.key, down: now ? !now.down : Boolean(column.numeric) })}
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
  );
}

const stackedRow = "max-sm:flex max-sm:flex-wrap max-sm:items-center max-sm:gap-x-4 max-sm:gap-y-1.5 max-sm:px-4 max-sm:py-3";
const stackedName = "max-sm:w-full max-sm:min-w-0 max-sm:p-0";
const stackedCell =
  "max-sm:flex max-sm:min-w-0 max-sm:items-center max-sm:p-0 max-sm:text-xs max-sm:before:mr-1.5 max-sm:before:shrink-0 max-sm:before:text-ink-3 max-sm:before:content-[attr(data-title)]";

export function TableRow<Row>({ columns, row, figures, ...more }: { columns: Column<Row>[]; row: Row; figures?: boolean } & ComponentProps<"tr">) {
  return (
    <tr {...more} role="row" className={cn("relative border-b border-line last:border-0 hover:bg-hover/60", !figures && stackedRow)}>
      {columns.map((column, index) => (
        <td
          key={column.key}
          role="cell"
          data-title={typeof column.title === "string" ? column.title : undefined}
          className={cn(bodyCell, column.numeric && "text-right tabular-nums", !figures && (index === 0 ? stackedName : stackedCell), column.className)}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

function compare(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : byWords.compare(String(a), String(b));
}

const byWords = new Intl.Collator("en", { numeric: true });
