import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";

import { askAgain, useEvents } from "@/api/live";

import { isOver, type Run, type RunEvent, runQuery } from "./queries";

const types = [
  "tool.needs_approval", "tool.approved", "tool.rejected", "tool.started", "tool.output_appended", "tool.waiting",
  "tool.completed", "tool.failed", "tool.cancelled", "tool.expired", "tool.in_doubt", "tool.cancel_requested",
  "tool.late_result", "tool.review_changed", "end",
] as const;

/** A run, kept up to date by its session's events until it is over. */
export function useLiveRun(id: string | undefined): UseQueryResult<Run> {
  const client = useQueryClient();
  const query = useQuery({ ...runQuery(id ?? ""), enabled: id !== undefined });
  const run = id === undefined ? undefined : query.data;
  const url = run && !isOver(run.status) ? `/api/v1/sessions/${encodeURIComponent(run.session_id)}/events` : null;
  useEvents(url, {
    types,
    onEvent: (type, data) => {
      const event = data as RunEvent;
      if (id === undefined) return;
      const key = runQuery(id).queryKey;
      if (event.call_id !== id) {
        // The question that its server asks is a call of its own; once that moves, the run is asked about again.
        if (client.getQueryData(key)?.asks === event.call_id) askAgain(client, key);
        return;
      }
      client.setQueryData(key, (before) =>
        !before || before.events?.some((known) => known.seq === event.seq)
          ? before
          : { ...before, events: [...(before.events ?? []), event] },
      );
      // Progress says all there is to say; other events change the run itself.
      if (type === "tool.output_appended" && !asksSomething(event)) return;
      askAgain(client, key);
      askAgain(client, ["runs"]);
      askAgain(client, ["usage"]);
    },
    onReturn: () => (id === undefined ? undefined : askAgain(client, runQuery(id).queryKey)),
  });
  return query;
}

/** Whether a report says that the run's MCP server asks a person something. */
function asksSomething(event: RunEvent): boolean {
  const chunk = (event.data as { chunk?: { asks?: unknown } | null }).chunk;
  return typeof chunk === "object" && chunk !== null && typeof chunk.asks === "string";
}

/** How far a run says it is: its latest report, and a share where it names one. */
export function progressOf(run: Run): { share: number | null; text: string } | null {
  const last = run.events?.findLast((event) => event.type === "tool.output_appended");
  if (!last) return null;
  const chunk = (last.data as { chunk?: unknown }).chunk;
  if (typeof chunk === "string") return { share: null, text: chunk };
  if (typeof chunk !== "object" || chunk === null) return null;
  const { part, of, progress, total, message } = chunk as Record<string, unknown>;
  const done = typeof part === "number" ? part : typeof progress === "number" ? progress : null;
  const whole = typeof of === "number" ? of : typeof total === "number" ? total : null;
  const share = done !== null && whole !== null && whole > 0 ? Math.min(1, done / whole) : null;
  const text = typeof message === "string" ? message : share === null ? JSON.stringify(chunk) : `${done} of ${whole}`;
  return { share, text };
}

/** How long it ran, or has been running, in milliseconds. */
export function runTime(run: Run, now: number = Date.now()): number | null {
  if (!run.started_at) return null;
  const end = run.completed_at ? new Date(run.completed_at).getTime() : now;
  return Math.max(0, end - new Date(run.started_at).getTime());
}
