import { DrawerSection } from "@/components/ui/drawer";
import { RelativeTime } from "@/components/ui/relative-time";
import { humanWord } from "@/lib/format";
import { clipped } from "@/lib/visible";
import type { RunEvent } from "@/runs/queries";

import type { Approval } from "./queries";
import { nameOf } from "./words";

type Step = Record<string, { to?: string | string[]; role?: string } | undefined> | string;
type Data = { step?: Step; reason?: string; attempt?: number; error?: { message?: string } };

/** What happened to the call so far, oldest first. */
export function Timeline({ approval, me }: { approval: Approval; me: string | undefined }) {
  const events = (approval.events ?? []).filter((event) => event.type !== "tool.output_appended");
  return events.length === 0 ? null : (
    <DrawerSection title="Timeline">
      <ol aria-label="Timeline" className="space-y-2">
        {events.map((event) => (
          <li key={event.seq} className="flex items-baseline gap-3 text-sm">
            <span aria-hidden className="size-1.5 shrink-0 -translate-y-px rounded-full bg-line-strong" />
            <span className="min-w-0 flex-1 break-words text-ink-2">{clipped(said(event, approval, me), 600)}</span>
            <RelativeTime at={event.at} className="whitespace-nowrap text-xs text-ink-3" />
          </li>
        ))}
      </ol>
    </DrawerSection>
  );
}

function said(event: RunEvent, approval: Approval, me: string | undefined): string {
  const data = (event.data ?? {}) as Data;
  const who = nameOf(event.actor, me);
  const by = who === "you" ? "You" : who;
  const why = data.reason ? `: “${data.reason}”` : "";
  switch (event.type) {
    case "tool.needs_approval":
      return `${by} asked${approval.subject ? ` for ${nameOf(approval.subject, me)}` : ""}`;
    case "tool.approved":
      return `${by} approved${why}`;
    case "tool.rejected":
      return `${by} denied it${why}`;
    case "tool.started":
      return (data.attempt ?? 1) > 1 ? `It began to run, attempt ${data.attempt}` : "It began to run";
    case "tool.completed":
      return "It ended well";
    case "tool.failed":
      return `It failed${data.error?.message ? `: ${data.error.message}` : ""}`;
    case "tool.in_doubt":
      return "Its outcome was lost";
    case "tool.expired":
      return "Nobody decided in time";
    case "tool.cancelled":
      return `${by} cancelled it${why}`;
    case "tool.cancel_requested":
      return `${by} asked it to stop`;
    case "tool.waiting":
      return "It waits for something outside";
    case "tool.late_result":
      return "A late result came in and was only kept";
    case "tool.review_changed":
      return steps(by, data.step, me);
    default:
      return `${humanWord(event.type.replace(/^\w+\./, ""))}, by ${who}`;
  }
}

function steps(by: string, step: Step | undefined, me: string | undefined): string {
  const name = typeof step === "string" ? step : (Object.keys(step ?? {})[0] ?? "");
  const { to, role } = (typeof step === "object" ? step[name] : undefined) ?? {};
  switch (name) {
    case "voted":
      return `${by} said yes`;
    case "remarked":
      return `${by} said something`;
    case "reassigned":
      return `${by} gave it to ${typeof to === "string" ? nameOf(to, me) : "someone"}`;
    case "reassigned_to_role":
      return `${by} gave it to whoever holds ${typeof role === "string" ? role : "a role"}`;
    case "escalated":
      return Array.isArray(to) && to.length > 0 ? `It was passed on to ${to.join(", ")}` : "It was passed on to more people";
    case "edited":
      return `${by} changed the input`;
    default:
      return `${by}: ${humanWord(name)}`;
  }
}
