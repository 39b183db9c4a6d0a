import { useQuery } from "@tanstack/react-query";
import { ChartLine } from "lucide-react";
import { lazy, Suspense } from "react";

import { Card, TitledCard } from "@/components/ui/card";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { EmptyState, ErrorState } from "@/components/ui/states";
import { formatCount, formatDuration, formatNumber, formatShare } from "@/lib/format";

import { statsByTool, type UsageRow, usageQuery } from "./stats";

const Legend = lazy(() => import("@/output/charts").then((module) => ({ default: module.Legend })));
const Plot = lazy(() => import("@/output/charts").then((module) => ({ default: module.Plot })));

const series = [
  { field: "good", label: "Succeeded", format: "integer" },
  { field: "open", label: "Not over", format: "integer" },
  { field: "bad", label: "Did not end well", format: "integer" },
];

/** How often the tool ran in the last 30 days, how it ended, how long it took and what it cost. */
export function UsageTab({ tool }: { tool: string }) {
  const usage = useQuery(usageQuery(tool));
  if (usage.isPending) return <Loading label="Loading the counts"><Skeleton className="h-72 rounded-xl" /></Loading>;
  if (usage.isError) return <ErrorState error={usage.error} what="The counts could not be loaded" onRetry={() => void usage.refetch()} />;
  const stats = statsByTool(usage.data).get(tool);
  if (!stats) {
    return (
      <EmptyState icon={ChartLine} title="Not used yet">
        Runs of the last 30 days are counted here: yours, or everyone’s if you read the record.
      </EmptyState>
    );
  }
  const time = usage.data.reduce((sum, row) => sum + row.run_ms, 0);
  const cost = usage.data.reduce((sum, row) => sum + row.cost_micros, 0);
  const figures: [string, string][] = [
    ["Runs in 30 days", formatCount(stats.calls)],
    ["Ended well", stats.okShare === null ? "–" : formatShare(stats.okShare)],
    ["Average time", formatDuration(time / Math.max(1, stats.calls))],
    ["Cost", cost === 0 ? "–" : formatNumber(cost / 1e6)],
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
      <TitledCard title="Runs by day" aside={<Suspense><Legend series={series} /></Suspense>}>
        <div aria-hidden className="h-60">
          <Suspense>
            <Plot
              kind="bar"
              stacked
              items={days(usage.data)}
              axis={{ field: "day", label: "Day" }}
              series={series}
            />
          </Suspense>
        </div>
        <table className="sr-only">
          <caption>Runs by day</caption>
          <tbody>
            {days(usage.data).map((day) => (
              <tr key={day.day}>
                <th scope="row">{day.day}</th>
                <td>
                  {day.good} succeeded, {day.open} not over, {day.bad} did not end well
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TitledCard>
    </div>
  );
}

/** Each of the last 30 days, those without runs too. */
function days(rows: UsageRow[]): { day: string; good: number; bad: number; open: number }[] {
  const found = new Map<string, { day: string; good: number; bad: number; open: number }>();
  for (let back = 29; back >= 0; back -= 1) {
    const day = new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
    found.set(day, { day: day.slice(5), good: 0, bad: 0, open: 0 });
  }
  for (const row of rows) {
    const day = found.get(row.day);
    if (!day) continue;
    if (row.status === "completed") day.good += row.calls;
    else if (["pending", "running", "waiting"].includes(row.status)) day.open += row.calls;
    else day.bad += row.calls;
  }
  return [...found.values()];
}
