import { Component, lazy, type ReactNode, Suspense } from "react";

import { Card, TitledCard } from "@/components/ui/card";
import { JsonView } from "@/components/ui/json-view";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { Table } from "@/components/ui/table";
import { cn } from "@/lib/cn";
import { humanWord } from "@/lib/format";

import { blocksOf, contentOf, Contents } from "./content";
import { formatValue, isNumeric, type Item, itemsOf, type Shown, shownOf, wordOf } from "./value";

const ChartSection = lazy(() => import("./charts").then((module) => ({ default: module.ChartSection })));
const RadarSection = lazy(() => import("./charts").then((module) => ({ default: module.RadarSection })));

/** How a tool wants one part of its result drawn. */
export type Section = { key: string; label: string; type: string; config?: unknown };

/** A tool's sections, as far as they have the right shape. */
export function sectionsOf(value: unknown): Section[] {
  if (!Array.isArray(value)) return [];
  return value.filter(
    (part): part is Section => typeof part === "object" && part !== null && typeof part.key === "string" && typeof part.type === "string",
  );
}

/** A result: its sections as the tool wants them drawn, the content that came beside it, and whatever else there is. */
export function Output({ value, sections, content }: { value: unknown; sections: Section[]; content?: unknown }) {
  const result = value as Item | null;
  const present = sections.filter((section) => result?.[section.key] !== undefined);
  const beside = blocksOf(content);
  if (beside) return <Contents blocks={beside} rest={value} />;
  if (present.length === 0) return <Unsectioned value={value} />;
  const covered = new Set(present.map((section) => section.key));
  const rest = Object.fromEntries(Object.entries(result ?? {}).filter(([key]) => !covered.has(key)));
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      {present.map((section, index) => (
        <div key={index} className={cn("min-w-0", isHalf(section, present, index) ? "" : "lg:col-span-2")}>
          <Guarded value={result?.[section.key]} label={section.label}>
            <Drawn section={section} value={result?.[section.key]} />
          </Guarded>
        </div>
      ))}
      {Object.keys(rest).length > 0 ? (
        <TitledCard level={3} title="More" className="lg:col-span-2">
          <JsonView value={rest} label="The rest of the result" />
        </TitledCard>
      ) : null}
    </div>
  );
}

const HALVES = new Set(["ranking", "radar"]);

/** Rankings and radars stand side by side, when there are two. */
function isHalf(section: Section, all: Section[], index: number): boolean {
  if (!HALVES.has(section.type)) return false;
  const run = (from: number, step: number): number => (HALVES.has(all[from]?.type ?? "") ? 1 + run(from + step, step) : 0);
  const before = run(index - 1, -1);
  const length = before + 1 + run(index + 1, 1);
  return length % 2 === 0 || before < length - 1;
}

function Drawn({ section, value }: { section: Section; value: unknown }) {
  switch (section.type) {
    case "summary":
      return <Summary section={section} value={value} />;
    case "table":
      return <TableSection section={section} value={value} />;
    case "ranking":
      return <Ranking section={section} value={value} />;
    case "chart":
    case "radar": {
      const items = itemsOf(value);
      if (!items) break;
      return (
        <Suspense fallback={<DrawingSkeleton />}>
          {section.type === "chart" ? <ChartSection section={section} items={items} /> : <RadarSection section={section} items={items} />}
        </Suspense>
      );
    }
    default:
      break;
  }
  return (
    <TitledCard level={3} title={section.label}>
      <JsonView value={value} label={section.label} />
    </TitledCard>
  );
}

function Summary({ section, value }: { section: Section; value: unknown }) {
  if (typeof value === "string") return <TitledCard level={3} title={section.label}><p className="max-w-[72ch] whitespace-pre-line text-base text-ink-2">{value}</p></TitledCard>;
  const item = (value ?? {}) as Item;
  const figures = shownOf(section.config, "figures").slice(0, 4);
  const text = item[wordOf(section.config, "text") ?? "text"];
  return (
    <Card>
      <div className="px-5 pb-4 pt-4">
        <h3 className="text-sm font-semibold">{section.label}</h3>
        {typeof text === "string" ? <p className="mt-2 max-w-[72ch] whitespace-pre-line text-base text-ink-2">{text}</p> : null}
      </div>
      {figures.length > 0 ? (
        <dl className="grid grid-cols-2 border-t border-line sm:grid-flow-col sm:auto-cols-fr sm:grid-cols-none [&>*+*]:border-line sm:[&>*+*]:border-l max-sm:[&>*:nth-child(even)]:border-l max-sm:[&>*:nth-child(n+3)]:border-t">
          {figures.map((figure) => (
            <div key={figure.field} className="min-w-0 px-5 py-3.5">
              <dt className="text-xs text-ink-3">{figure.label}</dt>
              <dd className="mt-0.5 truncate text-xl font-semibold tabular-nums" title={formatValue(item[figure.field], figure.format)}>
                {formatValue(item[figure.field], figure.format)}
              </dd>
            </div>
          ))}
        </dl>
      ) : null}
    </Card>
  );
}

function TableSection({ section, value }: { section: Section; value: unknown }) {
  const items = itemsOf(value);
  if (!items) return <TitledCard level={3} title={section.label}><JsonView value={value} label={section.label} /></TitledCard>;
  return (
    <TitledCard level={3} title={section.label} flush>
      <ItemTable items={items} columns={shownOf(section.config, "columns")} label={section.label} />
    </TitledCard>
  );
}

function ItemTable({ items, columns, label }: { items: Item[]; columns: Shown[]; label: string }) {
  const shown = columns.length > 0 ? columns : columnsOf(items);
  const keys = new Map(items.map((item, index) => [item, String(index)]));
  return (
    <Table<Item>
      figures
      label={label}
      rows={items}
      rowKey={(item) => keys.get(item) ?? ""}
      columns={shown.map((column) => ({
        key: column.field,
        title: column.label,
        numeric: isNumeric(column.format, items[0]?.[column.field]),
        sort: (item) => {
          const cell = item[column.field];
          return typeof cell === "number" ? cell : formatValue(cell, column.format);
        },
        cell: (item) => formatValue(item[column.field], column.format),
      }))}
    />
  );
}

/** Columns for rows that nobody described: what the first rows have. */
function columnsOf(items: Item[]): Shown[] {
  const fields = new Set(items.slice(0, 20).flatMap((item) => Object.keys(item)));
  return [...fields].slice(0, 12).map((field) => ({ field, label: humanWord(field) }));
}

function Ranking({ section, value }: { section: Section; value: unknown }) {
  const items = itemsOf(value);
  if (!items) return <TitledCard level={3} title={section.label}><JsonView value={value} label={section.label} /></TitledCard>;
  const [label, score, reason] = ["label", "score", "reason"].map((key) => wordOf(section.config, key) ?? key) as [string, string, string];
  const named = (section.config as { max?: unknown } | undefined)?.max;
  const best = Math.max(...items.map((item) => (typeof item[score] === "number" ? item[score] : 0)), 0);
  const full = typeof named === "number" && named > 0 ? named : best || 1;
  return (
    <TitledCard level={3} title={section.label} className="h-full">
      <ol className="space-y-4">
        {items.map((item, index) => {
          const points = typeof item[score] === "number" ? item[score] : 0;
          return (
            <li key={index} className="flex gap-3">
              <span
                className={cn(
                  "mt-0.5 flex size-6 shrink-0 items-center justify-center rounded-full text-2xs font-semibold",
                  index === 0 ? "bg-accent text-white" : "bg-hover text-ink-2",
                )}
              >
                {index + 1}
              </span>
              <div className="min-w-0 flex-1">
                <div className="flex justify-between gap-3 text-sm font-medium">
                  <span className="min-w-0 break-words">{formatValue(item[label])}</span>
                  <span className="font-semibold tabular-nums">{formatValue(item[score])}</span>
                </div>
                <div aria-hidden className="mt-1.5 h-1.5 overflow-hidden rounded-full bg-hover">
                  <div
                    className={cn("h-full rounded-full", index === 0 ? "bg-accent" : "bg-line-strong")}
                    style={{ width: `${Math.max(0, Math.min(1, points / full)) * 100}%` }}
                  />
                </div>
                {typeof item[reason] === "string" ? <p className="mt-1.5 text-xs text-ink-3">{item[reason]}</p> : null}
              </div>
            </li>
          );
        })}
      </ol>
    </TitledCard>
  );
}

/** A result that says nothing of how to draw it: text, pictures and files by their kind, plain fields as a list, the rest as JSON. */
function Unsectioned({ value }: { value: unknown }) {
  const content = contentOf(value);
  if (content) return <Contents blocks={content.blocks} rest={content.rest} />;
  const items = itemsOf(value);
  if (items && items.length > 0) return <Card className="min-w-0 overflow-hidden"><ItemTable items={items} columns={[]} label="Result" /></Card>;
  const fields = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value as Item) : [];
  const plain = fields.length > 0 && fields.length <= 24 && fields.every(([, field]) => typeof field !== "object" || field === null);
  if (!plain) return <JsonView value={value} label="Result" />;
  return (
    <Card className="min-w-0 p-5">
      <dl className="grid grid-cols-[minmax(120px,auto)_minmax(0,1fr)] gap-x-6 gap-y-2 text-sm">
        {fields.map(([name, field]) => (
          <div key={name} className="contents">
            <dt className="text-ink-3">{humanWord(name)}</dt>
            <dd className="min-w-0 whitespace-pre-line break-words font-medium">{formatValue(field)}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function DrawingSkeleton() {
  return (
    <Card className="p-5">
      <Loading label="Loading the drawing">
        <Skeleton className="h-4 w-32" />
        <Skeleton className="mt-4 h-56" />
      </Loading>
    </Card>
  );
}

/** A section that can't be drawn is shown as what it holds, and costs nobody the rest of the page. */
class Guarded extends Component<{ value: unknown; label: string; children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };
  static getDerivedStateFromError() {
    return { broken: true };
  }
  override render() {
    if (!this.state.broken) return this.props.children;
    return (
      <TitledCard level={3} title={this.props.label}>
        <JsonView value={this.props.value} label={this.props.label} />
      </TitledCard>
    );
  }
}
