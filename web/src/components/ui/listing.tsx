import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Button } from "./button";
import { Card } from "./card";
import { LoadingRows } from "./skeleton";
import { ErrorNote, ErrorState } from "./states";
import { type Column, Table } from "./table";

/** What names a row: the link or button that is stretched over it. */
export const rowNameLook = "break-all text-left font-mono text-xs text-ink outline-offset-[-2px] after:absolute after:inset-0";

/** The column that names a row keeps its room on a phone, and what matters less leaves it. */
export const nameColumn = "min-w-44";
export const personColumn = "min-w-32";
export const wideOnly = "max-sm:hidden";

type List = Pick<
  ReturnType<typeof useInfiniteQuery>,
  "isPending" | "isError" | "error" | "refetch" | "hasNextPage" | "fetchNextPage" | "isFetchingNextPage" | "isFetchNextPageError"
>;

/** A list that comes in pages, in a card, in each of its states. */
export function Listing<Row>({ label, what, list, rows, columns, rowKey, empty }: {
  label: string;
  /** What is listed, for sentences: `the roles`. */
  what: string;
  list: List;
  rows: Row[];
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  /** What is said when there is nothing. */
  empty: ReactNode;
}) {
  return (
    <Card className="overflow-hidden">
      {list.isPending ? (
        <LoadingRows label={`Loading ${what}`} />
      ) : list.isError && rows.length === 0 ? (
        <ErrorState error={list.error} what={`${what[0]!.toUpperCase()}${what.slice(1)} could not be loaded`} onRetry={() => void list.refetch()} />
      ) : rows.length === 0 ? (
        empty
      ) : (
        <Table label={label} columns={columns} rows={rows} rowKey={rowKey} />
      )}
      {list.hasNextPage ? (
        <div className="flex flex-wrap items-center gap-3 border-t border-line p-3">
          {list.isFetchNextPageError ? <ErrorNote error={list.error} className="flex-1" /> : null}
          <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {list.isFetchingNextPage ? "Loading…" : "Show more"}
          </Button>
        </div>
      ) : null}
    </Card>
  );
}
