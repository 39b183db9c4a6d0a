import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";

import type { ToolSummary } from "./queries";
import type { ToolStats } from "./stats";
import { ToolCard } from "./tool-card";

const HEIGHT = 218;
const GAP = 16;

/** Cards in rows; only the rows in sight are drawn, however many tools there are. */
export function ToolGrid({ tools, stats }: { tools: ToolSummary[]; stats: Map<string, ToolStats> }) {
  const frame = useRef<HTMLUListElement>(null);
  const [{ columns, top }, setPlace] = useState({ columns: 3, top: 0 });
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () => {
      const width = element.clientWidth;
      const place = {
        columns: width >= 940 ? 3 : width >= 600 ? 2 : 1,
        top: element.getBoundingClientRect().top + window.scrollY,
      };
      setPlace((before) => (before.columns === place.columns && before.top === place.top ? before : place));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const rows = Math.ceil(tools.length / columns);
  const virtual = useWindowVirtualizer({
    count: rows,
    estimateSize: () => HEIGHT,
    gap: GAP,
    overscan: 3,
    scrollMargin: top,
  });
  return (
    <ul ref={frame} className="relative mt-6" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().flatMap((row) =>
        tools.slice(row.index * columns, (row.index + 1) * columns).map((tool, column) => (
          <li
            key={tool.id}
            aria-setsize={tools.length}
            aria-posinset={row.index * columns + column + 1}
            className="absolute"
            style={{
              top: row.start - top,
              height: HEIGHT,
              width: `calc((100% - ${(columns - 1) * GAP}px) / ${columns})`,
              left: `calc(((100% - ${(columns - 1) * GAP}px) / ${columns} + ${GAP}px) * ${column})`,
            }}
          >
            <ToolCard tool={tool} stats={stats.get(tool.id)} />
          </li>
        )),
      )}
    </ul>
  );
}
