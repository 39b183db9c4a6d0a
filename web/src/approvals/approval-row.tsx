import { Link } from "@tanstack/react-router";

import { RelativeTime } from "@/components/ui/relative-time";
import { EffectBadge, StatusBadge } from "@/components/ui/state-badges";
import { ToolIcon } from "@/components/ui/tool-icon";
import { cn } from "@/lib/cn";
import { visible } from "@/lib/visible";
import type { ToolSummary } from "@/tools/queries";

import { type Approval, inputOf, isWaiting, previewOf } from "./queries";
import { Requester } from "./requester";
import { TimeLeft } from "./time-left";
import { titleOf } from "./words";

/** One call of the inbox. Its title is the link, stretched over the row; the box beside it chooses it for a batch. */
export function ApprovalRow({
  approval,
  tool,
  choosing,
}: {
  approval: Approval;
  tool: ToolSummary | undefined;
  /** Left out where nothing can be done to several at once. */
  choosing?: { chosen: boolean; able: boolean; onChange: () => void };
}) {
  const title = titleOf(approval, tool?.title);
  const review = approval.review;
  return (
    <li className="relative flex items-center gap-4 px-5 py-4 hover:bg-hover/60 max-sm:flex-wrap max-sm:gap-x-3 max-sm:gap-y-2 max-sm:px-4">
      {choosing ? (
        <label className="relative z-10 -m-1.5 flex size-7 shrink-0 items-center justify-center">
          <input
            type="checkbox"
            className="size-4 accent-accent disabled:opacity-40"
            checked={choosing.chosen}
            disabled={!choosing.able}
            title={choosing.able ? undefined : "Only calls of the same tool and rule go together, and only where the list shows what they would do"}
            onChange={choosing.onChange}
          />
          <span className="sr-only">Choose {title.slice(0, 120)}</span>
        </label>
      ) : null}
      <span className="max-sm:hidden">
        <ToolIcon icon={tool?.icon ?? ""} />
      </span>
      <div className="min-w-0 flex-1">
        <Link
          to="/approvals"
          search={(before: Record<string, unknown>) => ({ ...before, id: approval.id })}
          data-approval={approval.id}
          className="line-clamp-2 break-words text-base font-semibold outline-offset-[-2px] after:absolute after:inset-0"
        >
          {title}
        </Link>
        {previewOf(approval) ? null : (
          <p className="line-clamp-1 break-all font-mono text-xs text-ink-2">{inputLine(approval)}</p>
        )}
        <p className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-0.5 text-xs text-ink-3">
          <Requester actor={approval.actor} subject={approval.subject} className="inline-flex items-center gap-1" />
          <span aria-hidden>·</span>
          <span className="break-all font-mono">{approval.tool_id}</span>
          <span aria-hidden>·</span>
          <RelativeTime at={approval.created_at} />
        </p>
      </div>
      <div className={cn("flex shrink-0 flex-wrap items-center justify-end gap-1.5 max-sm:w-full max-sm:justify-start", choosing && "max-sm:pl-7")}>
        {review && review.needed > 1 && isWaiting(approval) ? (
          <span className="text-xs text-ink-3">
            {review.votes.length} of {review.needed} yes
          </span>
        ) : null}
        <EffectBadge effect={approval.effect} />
        {isWaiting(approval) && review ? <TimeLeft until={review.deadline} /> : <StatusBadge status={approval.status} />}
      </div>
    </li>
  );
}

/** The input in one line. Lists leave out what is very large. */
function inputLine(approval: Approval): string {
  const input: unknown = inputOf(approval);
  return input == null ? "Too much to show here: open it" : visible(JSON.stringify(input).slice(0, 300));
}
