import { queryOptions, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ChartLine } from "lucide-react";
import { lazy, Suspense } from "react";

import { api, unwrap } from "@/api/client";
import { ButtonLink } from "@/components/ui/button-link";
import { Card, TitledCard } from "@/components/ui/card";
import { nameColumn, rowNameLook, wideOnly } from "@/components/ui/listing";
import { PageHeader } from "@/components/ui/page-header";
import { RelativeTime } from "@/components/ui/relative-time";
import { Segmented } from "@/components/ui/segmented";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { EmptyState, ErrorState } from "@/components/ui/states";
import { type Column, Table } from "@/components/ui/table";
import { formatCount, formatDuration, formatNumber, formatShare } from "@/lib/format";

import { byDay, byTool, type Day, type ToolFigures, type UsageRow } from "./figures";

const Legend = lazy(() => import("@/output/charts").then((module) => ({ default: module.Legend })));
const Plot = lazy(() => import("@/output/charts").then((module) => ({ default: module.Plot })));
const route = getRouteApi("/shell/usage");

const usageQuery = (days: number) =>
  queryOptions({
    queryKey: ["usage", "days", days],
    queryFn: async () => {
      const since = new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
      return (await unwrap(api.GET("/api/v1/usage", { params: { query: { since: `${since}T00:00:00Z` } } }))).usage;
    },
    staleTime: 30_000,
  });

const runs = [
  { field: "good", label: "Succeeded", format: "integer" },
  { field: "open", label: "Not over", format: "integer" },
  { field: "bad", label: "Did not end well", format: "integer" },
];
const costs = [{ field: "cost", label: "Cost", format: "money" }];

const columns: Column<ToolFigures>[] = [
  {
    key: "tool",
    className: nameColumn,
    title: "Tool",
    sort: (one) => one.tool,
    cell: (one) => (
      <Link to="/tools/$id" params={{ id: one.tool }} search={{ tab: "usage" } as never} className={rowNameLook}>
        {one.tool}
      </Link>
    ),
  },
  { key: "calls", title: "Calls", numeric: true, sort: (one) => one.calls, cell: (one) => formatCount(one.calls) },
  {
    key: "ok",
    title: "Succeeded",
    numeric: true,
    sort: (one) => (one.ended ? one.good / one.ended : -1),
    cell: (one) => (one.ended ? formatShare(one.good / one.ended) : "–"),
  },
  {
    key: "time",
    className: wideOnly,
    title: "Mean time",
    numeric: true,
    sort: (one) => (one.ended ? one.runMs / one.ended : -1),
    cell: (one) => (one.ended ? formatDuration(one.runMs / one.ended) : "–"),
  },
  { key: "cost", title: "Cost", numeric: true, sort: (one) => one.cost, cell: (one) => (one.cost > 0 ? formatNumber(one.cost) : "–") },
  { key: "last", className: wideOnly, title: "Last", sort: (one) => one.lastAt, cell: (one) => <RelativeTime at={one.lastAt} className="whitespace-nowrap" /> },
];

/** How much is called, how it ends, and what it costs. */
export function UsagePage() {
  const { days = 30 } = route.useSearch();
  const navigate = route.useNavigate();
  const usage = useQuery(usageQuery(days));
  return (
    <>
      <PageHeader
        title="Usage"
        description="Calls by tool and day: your own, or everyone’s if you read the record."
        action={
          <Segmented
            name="usage-days"
            label="How far back"
            value={String(days)}
            onChange={(next) => void navigate({ search: { days: next === "30" ? undefined : (Number(next) as 7) }, replace: true })}
            options={[
              { value: "7", title: "7 days" },
              { value: "30", title: "30 days" },
              { value: "90", title: "90 days" },
            ]}
          />
        }
      />
      {usage.isPending ? (
        <Loading label="Loading the counts" className="space-y-4">
          <Skeleton className="h-20 rounded-xl" />
          <Skeleton className="h-72 rounded-xl" />
        </Loading>
      ) : usage.isError ? (
        <Card>
          <ErrorState error={usage.error} what="The counts could not be loaded" onRetry={() => void usage.refetch()} />
        </Card>
      ) : usage.data.length === 0 ? (
        <Card>
          <EmptyState
            icon={ChartLine}
            title="Nothing was called"
            action={<ButtonLink to="/">To the tools</ButtonLink>}
          >
            Calls of the last {days} days are counted here.
          </EmptyState>
        </Card>
      ) : (
        <Counted rows={usage.data} days={days} />
      )}
    </>
  );
}

function Counted({ rows, days }: { rows: UsageRow[]; days: number }) {
  const tools = byTool(rows);
  const perDay = byDay(rows, days);
  const sum = (of: (one: ToolFigures) => number) => tools.reduce((total, one) => total + of(one), 0);
  const [calls, good, ended, cost] = [sum((one) => one.calls), sum((one) => one.good), sum((one) => one.ended), sum((one) => one.cost)];
  const figures: [string, string][] = [
    ["Calls", formatCount(calls)],
    ["Succeeded", ended ? formatShare(good / ended) : "–"],
    ["Tools used", formatCount(tools.length)],
    ["Cost", cost > 0 ? formatNumber(cost) : "–"],
  ];
  return (
    <div className="space-y-4">
      <Card>
        <dl className="grid grid-cols-2 sm:grid-cols-4 [&>*+*]:border-l [&>*]:border-line">
          {figures.map(([name, value]) => (
            <div key={name} className="px-5 py-3.5">
              <dt className="text-xs text-ink-3">{name}</dt>
              <dd className="mt-0.5 text-xl font-semibold tabular-nums">{value}</dd>
            </div>
          ))}
        </dl>
      </Card>
      <TitledCard title="Calls by day" aside={<Suspense><Legend series={runs} /></Suspense>}>
        <figure>
          <div aria-hidden className="h-60">
            <Suspense>
              <Plot kind="bar" stacked items={perDay} axis={{ field: "day", label: "Day" }} series={runs} />
            </Suspense>
          </div>
          <Told title="Calls by day" perDay={perDay} say={(day) => `${day.good} succeeded, ${day.open} not over, ${day.bad} did not end well`} />
        </figure>
      </TitledCard>
      {cost > 0 ? (
        <TitledCard title="Cost by day">
          <figure>
            <div aria-hidden className="h-48">
              <Suspense>
                <Plot kind="bar" items={perDay} axis={{ field: "day", label: "Day" }} series={costs} />
              </Suspense>
            </div>
            <Told title="Cost by day" perDay={perDay} say={(day) => formatNumber(day.cost)} />
          </figure>
        </TitledCard>
      ) : null}
      <TitledCard title="By tool" flush className="overflow-hidden">
        <Table label="Usage by tool" columns={columns} rows={tools} rowKey={(one) => one.tool} />
      </TitledCard>
    </div>
  );
}

/** The same numbers for those who don't see the drawing. */
function Told({ title, perDay, say }: { title: string; perDay: Day[]; say: (day: Day) => string }) {
  return (
    <figcaption className="sr-only">
      <table>
        <caption>{title}</caption>
        <tbody>
          {perDay.map((day) => (
            <tr key={day.day}>
              <th scope="row">{day.day}</th>
              <td>{say(day)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figcaption>
  );
}
