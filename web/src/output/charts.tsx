import {
  Bar,
  BarChart,
  CartesianGrid,
  Line,
  LineChart,
  PolarAngleAxis,
  PolarGrid,
  PolarRadiusAxis,
  Radar,
  RadarChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";
import type { ReactNode } from "react";

import { TitledCard } from "@/components/ui/card";
import { JsonView } from "@/components/ui/json-view";

import type { Section } from "./sections";
import { formatValue, type Item, type Shown, shownOf, wordOf } from "./value";

const colours = ["var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)"];
// Told apart without colour too.
const dashes = ["", "6 4", "2 3", "10 4", "8 3 2 3", "1 4"];
const tick = { fill: "var(--ink-3)", fontSize: 11 };
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** The colour of a series, by its place. */
export const seriesColour = (index: number): string => colours[index % colours.length]!;

const tooltip = {
  contentStyle: {
    background: "var(--surface)",
    border: "1px solid var(--line)",
    borderRadius: 8,
    boxShadow: "var(--pop-shadow)",
    fontSize: 12,
    color: "var(--ink)",
  },
  itemStyle: { color: "var(--ink-2)" },
  cursor: { stroke: "var(--line-strong)", fill: "var(--hover)" },
  isAnimationActive: false,
};

/** Which line or bar is which. */
export function Legend({ series }: { series: Shown[] }) {
  return (
    <ul className="flex flex-wrap gap-4 text-xs text-ink-2">
      {series.map((one, index) => (
        <li key={one.field} className="flex items-center gap-1.5">
          <svg aria-hidden width="16" height="4">
            <line x1="0" x2="16" y1="2" y2="2" strokeWidth="2.5" stroke={seriesColour(index)} strokeDasharray={dashes[index % dashes.length]} />
          </svg>
          {one.label}
        </li>
      ))}
    </ul>
  );
}

/** A drawing that those who can't see it get as a table. */
function Drawing({ title, series, axis, items, children, height }: {
  title: string;
  series: Shown[];
  axis: Shown;
  items: Item[];
  children: ReactNode;
  height: number;
}) {
  return (
    <TitledCard level={3} title={title} aside={<Legend series={series} />} className="h-full">
      <figure>
        <div aria-hidden style={{ height }}>
          {children}
        </div>
        <figcaption className="sr-only">
          <table>
            <caption>{title}</caption>
            <thead>
              <tr>
                <th scope="col">{axis.label}</th>
                {series.map((one) => (
                  <th key={one.field} scope="col">
                    {one.label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {items.map((item, index) => (
                <tr key={index}>
                  <th scope="row">{formatValue(item[axis.field])}</th>
                  {series.map((one) => (
                    <td key={one.field}>{formatValue(item[one.field], one.format)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </figcaption>
      </figure>
    </TitledCard>
  );
}

const shortly = (value: unknown): string => (typeof value === "number" ? compact.format(value) : String(value ?? ""));

/** Lines over an ordered axis, or groups of bars. */
export function ChartSection({ section, items }: { section: Section; items: Item[] }) {
  const series = shownOf(section.config, "series");
  const x = (section.config as { x?: { field?: unknown; label?: unknown } } | undefined)?.x;
  if (series.length === 0 || typeof x?.field !== "string") {
    return <TitledCard level={3} title={section.label}><JsonView value={items} label={section.label} /></TitledCard>;
  }
  const axis = { field: x.field, label: typeof x.label === "string" ? x.label : x.field };
  return (
    <Drawing title={section.label} series={series} axis={axis} items={items} height={260}>
      <Plot kind={wordOf(section.config, "kind") ?? "line"} items={items} axis={axis} series={series} />
    </Drawing>
  );
}

/** The drawing alone: for pages that have figures of their own. */
export function Plot({ kind, items, axis, series, stacked }: { kind: string; items: Item[]; axis: Shown; series: Shown[]; stacked?: boolean }) {
  const Chart = kind === "bar" ? BarChart : LineChart;
  const formats = new Map(series.map((one) => [one.label, one.format]));
  return (
    <ResponsiveContainer width="100%" height="100%">
      <Chart data={items} margin={{ top: 8, right: 12, bottom: 0, left: 0 }} accessibilityLayer={false}>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis dataKey={axis.field} tick={tick} tickLine={false} axisLine={false} dy={6} minTickGap={16} />
        <YAxis tick={tick} tickLine={false} axisLine={false} width={52} tickFormatter={shortly} allowDecimals={!series.every((one) => one.format === "integer")} />
        <Tooltip {...tooltip} formatter={(value, name) => [formatValue(value, formats.get(String(name))), name]} />
        {series.map((one, index) =>
          kind === "bar" ? (
            <Bar
              key={one.field}
              dataKey={one.field}
              name={one.label}
              fill={seriesColour(index)}
              radius={stacked ? 0 : [4, 4, 0, 0]}
              maxBarSize={40}
              stackId={stacked ? "all" : undefined}
              isAnimationActive={false}
            />
          ) : (
            <Line
              key={one.field}
              dataKey={one.field}
              name={one.label}
              type="linear"
              stroke={seriesColour(index)}
              strokeWidth={2}
              strokeDasharray={dashes[index % dashes.length]}
              dot={items.length <= 2}
              isAnimationActive={false}
            />
          ),
        )}
      </Chart>
    </ResponsiveContainer>
  );
}

/** Scores around a circle. */
export function RadarSection({ section, items }: { section: Section; items: Item[] }) {
  const series = shownOf(section.config, "series");
  const axis = wordOf(section.config, "axis");
  if (series.length === 0 || !axis) {
    return <TitledCard level={3} title={section.label}><JsonView value={items} label={section.label} /></TitledCard>;
  }
  const max = (section.config as { max?: unknown }).max;
  const named = items.map((item) => ({ ...item, [axis]: formatValue(item[axis], "label") }));
  return (
    <Drawing title={section.label} series={series} axis={{ field: axis, label: "Axis" }} items={named} height={280}>
      <ResponsiveContainer width="100%" height="100%">
        <RadarChart data={named} outerRadius="72%" accessibilityLayer={false}>
          <PolarGrid stroke="var(--line-strong)" />
          <PolarAngleAxis dataKey={axis} tick={tick} />
          <PolarRadiusAxis domain={[0, typeof max === "number" ? max : "auto"]} tick={false} axisLine={false} />
          <Tooltip {...tooltip} />
          {series.map((one, index) => (
            <Radar
              key={one.field}
              dataKey={one.field}
              name={one.label}
              stroke={seriesColour(index)}
              strokeWidth={2}
              strokeDasharray={dashes[index % dashes.length]}
              fill={seriesColour(index)}
              fillOpacity={index === 0 ? 0.14 : 0}
              isAnimationActive={false}
            />
          ))}
        </RadarChart>
      </ResponsiveContainer>
    </Drawing>
  );
}
