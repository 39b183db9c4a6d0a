import { Link } from "@tanstack/react-router";
import { memo } from "react";

import { RelativeTime } from "@/components/ui/relative-time";
import { ApprovalBadge, EffectBadge, OriginBadge, statusWords } from "@/components/ui/state-badges";
import { ToolIcon } from "@/components/ui/tool-icon";
import { counted, formatShare } from "@/lib/format";

import type { ToolSummary } from "./queries";
import type { ToolStats } from "./stats";

/** One tool of the library. Its title is the link, stretched over the whole card. */
export const ToolCard = memo(function ToolCard({ tool, stats }: { tool: ToolSummary; stats?: ToolStats }) {
  return (
    <article className="relative flex h-full flex-col rounded-xl border border-line bg-surface p-5 shadow-card transition-colors hover:border-line-strong has-[a:focus-visible]:border-accent">
      <div className="flex items-center gap-3">
        <ToolIcon icon={tool.icon} />
        <div className="min-w-0">
          <h2 className="truncate text-base font-semibold">
            <Link
              to="/tools/$id"
              params={{ id: tool.id }}
              className="after:absolute after:inset-0 after:rounded-xl"
              title={tool.title}
            >
              {tool.title}
            </Link>
          </h2>
          <p className="truncate font-mono text-xs text-ink-3">{tool.id}</p>
        </div>
      </div>
      <p className="mt-3 line-clamp-2 h-10 text-sm text-ink-2">{firstSentences(tool.description)}</p>
      <div className="mt-3 flex h-[22px] flex-wrap gap-1.5 overflow-hidden">
        <EffectBadge effect={tool.effect} />
        <OriginBadge id={tool.id} />
        {tool.requires_approval ? <ApprovalBadge /> : null}
      </div>
      <div className="mt-auto flex items-center justify-between gap-3 border-t border-line pt-3 text-xs text-ink-3">
        {stats ? (
          <>
            <span className="truncate">
              {counted(stats.calls, "run")}
              {stats.okShare === null ? "" : ` · ${formatShare(stats.okShare)} ok`}
            </span>
            <span className="whitespace-nowrap">
              {stats.lastStatus === "completed" ? null : `${statusWords[stats.lastStatus] ?? stats.lastStatus} `}
              <RelativeTime at={stats.lastAt} />
            </span>
          </>
        ) : (
          <span>Not used in the last 30 days</span>
        )}
      </div>
    </article>
  );
});

/** Descriptions are written for models; people need the beginning. */
function firstSentences(text: string): string {
  return text.length > 240 ? `${text.slice(0, 240)}…` : text;
}
