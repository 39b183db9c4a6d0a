import { useQuery } from "@tanstack/react-query";
import { ChartLine } from "lucide-react";
import { lazy, Suspense } from "react";

import { ButtonLink } from "@/components/ui/button-link";
import { Card, TitledCard } from "@/components/ui/card";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { EmptyState, ErrorState } from "@/components/ui/states";
import { formatCount, formatDuration, formatNumber, formatShare } from "@/lib/format";
import { byDay } from "@/usage/figures";

import { statsByTool, usageQuery } from "./stats";

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
      <EmptyState
        icon={ChartLine}
        title="Not used yet"
        action={<ButtonLink to="." search={((before: Record<string, unknown>) => ({ ...before, tab: undefined })) as never}>Run it</ButtonLink>}
      >
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
              items={byDay(usage.data, 30)}
              axis={{ field: "day", label: "Day" }}
              series={series}
            />
          </Suspense>
        </div>
        <table className="sr-only">
          <caption>Runs by day</caption>
          <tbody>
            {byDay(usage.data, 30).map((day) => (
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
