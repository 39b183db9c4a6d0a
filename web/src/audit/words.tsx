import { Ban, CircleCheck, CircleHelp, CircleX, Clock, Hourglass, type LucideIcon, Pencil, Play, Settings2, TimerOff } from "lucide-react";

import { Badge, type Tone } from "@/components/ui/badge";

const faces: Record<string, { tone: Tone; icon: LucideIcon; word: string }> = {
  "tool.needs_approval": { tone: "accent", icon: Hourglass, word: "Asked a person" },
  "tool.approved": { tone: "ok", icon: CircleCheck, word: "Approved" },
  "tool.rejected": { tone: "danger", icon: Ban, word: "Rejected" },
  "tool.review_changed": { tone: "neutral", icon: Pencil, word: "Review changed" },
  "tool.started": { tone: "info", icon: Play, word: "Started" },
  "tool.output_appended": { tone: "neutral", icon: Pencil, word: "Said more" },
  "tool.waiting": { tone: "accent", icon: Clock, word: "Waits" },
  "tool.completed": { tone: "ok", icon: CircleCheck, word: "Succeeded" },
  "tool.failed": { tone: "danger", icon: CircleX, word: "Failed" },
  "tool.cancelled": { tone: "neutral", icon: Ban, word: "Cancelled" },
  "tool.cancel_requested": { tone: "neutral", icon: Ban, word: "Told to stop" },
  "tool.expired": { tone: "neutral", icon: TimerOff, word: "Expired" },
  "tool.in_doubt": { tone: "warn", icon: CircleHelp, word: "In doubt" },
  "tool.late_result": { tone: "warn", icon: Clock, word: "Late result" },
  "admin.changed": { tone: "neutral", icon: Settings2, word: "Changed" },
};

/** What happened. */
export function EventBadge({ type }: { type: string }) {
  // A type this page does not know yet is still shown.
  const { tone, icon, word } = faces[type] ?? { tone: "neutral" as const, icon: CircleHelp, word: type };
  return (
    <Badge tone={tone} icon={icon} title={type}>
      {word}
    </Badge>
  );
}
