import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";

import { type Column, TableHead, type TableProps, TableRow, useOrder } from "./table";

/** What a row is taken to be high until it was drawn. */
const ROW = 61;

/**
 * A table of a page that may have thousands of rows: only those in sight are drawn, and the rest is room. It scrolls with
 * the window, so it has no place in a drawer.
 */
export function LongTable<Row>({ label, columns, rows, rowKey }: TableProps<Row>) {
  const { order, setOrder, sorted } = useOrder(columns, rows);
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (body.current) setTop(body.current.getBoundingClientRect().top + window.scrollY);
  }, []);
  const widths = useSteadyWidths(body, columns);
  const virtual = useWindowVirtualizer({
    count: sorted.length,
    estimateSize: () => ROW,
    overscan: 6,
    scrollMargin: top,
    getItemKey: (index) => rowKey(sorted[index]!),
  });
  const items = virtual.getVirtualItems();
  const before = (items[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  return (
    <div className="overflow-x-auto" role="region" aria-label={label} tabIndex={0}>
      <table role="table" aria-rowcount={sorted.length + 1} className="w-full border-collapse max-sm:block" style={widths ? { tableLayout: "fixed" } : undefined}>
        {widths ? (
          <colgroup className="max-sm:hidden">
            {widths.map((width, index) => (
              <col key={index} style={{ width: `${width}%` }} />
            ))}
          </colgroup>
        ) : null}
        <TableHead columns={columns} order={order} onOrder={setOrder} />
        <tbody role="rowgroup" ref={body} className="max-sm:block">
          <Room height={before} />
          {items.map((item) => (
            <TableRow
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              aria-rowindex={item.index + 2}
              columns={columns}
              row={sorted[item.index]!}
            />
          ))}
          <Room height={after} />
        </tbody>
      </table>
    </div>
  );
}

function Room({ height }: { height: number }) {
  return height > 0 ? (
    <tr aria-hidden className="max-sm:block" style={{ height }}>
      <td className="p-0" />
    </tr>
  ) : null;
}

/** How wide the columns came out at first, in percent: other rows would shift them while one scrolls. */
function useSteadyWidths<Row>(body: React.RefObject<HTMLTableSectionElement | null>, columns: Column<Row>[]): number[] | null {
  const [widths, setWidths] = useState<number[] | null>(null);
  useLayoutEffect(() => {
    const measure = () => {
      const cells = [...(body.current?.querySelector("tr[data-index]")?.children ?? [])] as HTMLElement[];
      const shown = cells.filter((cell) => cell.offsetWidth > 0);
      const whole = shown.reduce((sum, cell) => sum + cell.offsetWidth, 0);
      // Not while a column is hidden: its width is unknown then.
      setWidths(whole > 0 && shown.length === columns.length ? shown.map((cell) => (cell.offsetWidth / whole) * 100) : null);
    };
    const frame = requestAnimationFrame(measure);
    return () => cancelAnimationFrame(frame);
  }, [body, columns]);
  return widths;
}
