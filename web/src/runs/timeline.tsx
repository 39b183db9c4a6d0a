import { Ban, Check, CircleHelp, Clock, Flag, Hourglass, type LucideIcon, MessageSquare, Play, TriangleAlert } from "lucide-react";

import { cn } from "@/lib/cn";
import { counted, formatClock, formatDuration, formatExact, principalName } from "@/lib/format";

import type { Run, RunEvent } from "./queries";

type Step = { at: string; icon: LucideIcon; tone: string; title: string; note?: string };

const faces: Record<string, { icon: LucideIcon; tone: string; title: string }> = {
  "tool.needs_approval": { icon: Hourglass, tone: "text-accent-ink", title: "Stopped to ask a person" },
  "tool.approved": { icon: Check, tone: "text-ok-ink", title: "Approved" },
  "tool.rejected": { icon: Ban, tone: "text-danger-ink", title: "Rejected" },
  "tool.started": { icon: Play, tone: "text-info-ink", title: "Started" },
  "tool.output_appended": { icon: Flag, tone: "text-info-ink", title: "Reported" },
  "tool.waiting": { icon: Clock, tone: "text-accent-ink", title: "Waits" },
  "tool.completed": { icon: Check, tone: "text-ok-ink", title: "Completed" },
  "tool.failed": { icon: TriangleAlert, tone: "text-danger-ink", title: "Failed" },
  "tool.cancelled": { icon: Ban, tone: "text-ink-3", title: "Cancelled" },
  "tool.expired": { icon: Clock, tone: "text-ink-3", title: "Expired" },
  "tool.in_doubt": { icon: CircleHelp, tone: "text-warn-ink", title: "In doubt" },
  "tool.cancel_requested": { icon: Ban, tone: "text-ink-3", title: "Asked to stop" },
  "tool.late_result": { icon: CircleHelp, tone: "text-ink-3", title: "A result came too late" },
  "tool.review_changed": { icon: MessageSquare, tone: "text-accent-ink", title: "The question changed" },
};

/** The steps a run took, with who, when and how long since the one before. Reports in a row are one step. */
export function stepsOf(run: Run): Step[] {
  const steps: Step[] = [
    {
      at: run.created_at,
      icon: Flag,
      tone: "text-ink-3",
      title: "Called",
      note: run.rule ? `policy: ${run.rule}` : undefined,
    },
  ];
  let reports = 0;
  for (const event of run.events ?? []) {
    const face = faces[event.type] ?? { icon: CircleHelp, tone: "text-ink-3", title: event.type };
    if (event.type === "tool.output_appended" && reports > 0) {
      reports += 1;
      steps[steps.length - 1] = { at: event.at, ...face, title: counted(reports, "report") };
      continue;
    }
    reports = event.type === "tool.output_appended" ? 1 : 0;
    steps.push({ at: event.at, ...face, note: noteOf(event, run) });
  }
  return steps;
}

function noteOf(event: RunEvent, run: Run): string | undefined {
  const data = event.data as Record<string, unknown>;
  const by = event.actor === run.actor ? "" : `by ${principalName(event.actor).name}`;
  const error = data.error as { message?: unknown } | undefined;
  const said = [data.reason, error?.message].find((text): text is string => typeof text === "string");
  const attempt = event.type === "tool.started" && typeof data.attempt === "number" && data.attempt > 1 ? `attempt ${data.attempt}` : "";
  return [by, attempt, said].filter(Boolean).join(" · ") || undefined;
}

export function Timeline({ run }: { run: Run }) {
  const steps = stepsOf(run);
  return (
    <ol className="relative space-y-3">
      {steps.map((step, index) => {
        const before = steps[index - 1];
        const since = before ? new Date(step.at).getTime() - new Date(before.at).getTime() : null;
        return (
          <li key={index} className="flex gap-3 text-sm">
            <span className={cn("mt-0.5 flex size-5 shrink-0 items-center justify-center rounded-full bg-hover [&_svg]:size-3", step.tone)}>
              <step.icon aria-hidden />
            </span>
            <span className="min-w-0 flex-1">
              <span className="font-medium">{step.title}</span>
              {step.note ? <span className="block break-words text-xs text-ink-3">{step.note}</span> : null}
            </span>
            <span className="whitespace-nowrap text-right text-xs tabular-nums text-ink-3">
              <time dateTime={step.at} title={formatExact(step.at)}>
                {formatClock(step.at)}
              </time>
              {since === null || since < 1 ? null : <span className="block">+{formatDuration(since)}</span>}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
