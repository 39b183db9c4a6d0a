import { Link } from "@tanstack/react-router";
import { ArrowUpRight } from "lucide-react";

import { sentence } from "@/api/error";
import { RelativeTime } from "@/components/ui/relative-time";
import { Said } from "@/components/ui/said";
import { StatusBadge } from "@/components/ui/state-badges";
import { visible } from "@/lib/visible";
import { Returned } from "@/output/content";

import { type Approval, isWaiting } from "./queries";
import { nameOf } from "./words";

/** What became of a call that no longer waits: who decided, and how it ended. */
export function Outcome({ approval, me, late }: { approval: Approval; me: string | undefined; late: boolean }) {
  if (isWaiting(approval)) return null;
  const decided = approval.events?.findLast((event) => ["tool.approved", "tool.rejected"].includes(event.type));
  const at = decided?.at ?? approval.completed_at;
  const by = approval.decided_by ? nameOf(approval.decided_by, me) : null;
  const word = approval.approval === "rejected" ? "Denied" : approval.approval === "approved" ? "Approved" : null;
  return (
    <section aria-label="What became of it" role="status" className="space-y-3 rounded-xl border border-line bg-sunken p-4">
      <div className="flex flex-wrap items-center gap-2">
        <StatusBadge status={approval.status} />
        <p className="text-sm">
          {word && by ? `${word} by ${by}` : sentenceOf(approval.status)} {at ? <RelativeTime at={at} className="text-ink-3" /> : null}
        </p>
        <Link
          to="."
          search={(before: Record<string, unknown>) => ({ ...before, id: undefined, run: approval.id }) as never}
          className="ml-auto inline-flex min-h-6 items-center gap-1 text-sm font-medium text-accent-ink hover:underline"
        >
          See the run
          <ArrowUpRight aria-hidden className="size-3.5" />
        </Link>
      </div>
      {late && by !== "you" ? (
        <p className="text-sm text-ink-2">This was decided while you were looking. Your answer was not needed and changed nothing.</p>
      ) : null}
      {approval.reason && approval.approval !== "pending" ? (
        <p className="whitespace-pre-wrap break-words text-sm text-ink-2">“{visible(approval.reason)}”</p>
      ) : null}
      {approval.error && approval.approval === "approved" ? (
        <p className="break-words text-sm text-danger-ink">
          <Said text={sentence(approval.error.message)} />
        </p>
      ) : null}
      {approval.output != null ? <Returned run={approval} label="Result" /> : null}
    </section>
  );
}

function sentenceOf(status: string): string {
  switch (status) {
    case "expired":
      return "Nobody decided in time; it did not run";
    case "cancelled":
      return "It was cancelled; it did not run";
    case "in_doubt":
      return "Its outcome was lost";
    default:
      return "It no longer waits";
  }
}
