import { Ban, CircleCheck, CircleDashed, CircleX, CirclePause, GitCompare, Moon, PlugZap, Sparkles, Trash2 } from "lucide-react";

import { Badge } from "@/components/ui/badge";

import type { ToolState, Upstream } from "./queries";

/** How a server does on the node that answered. */
export function HealthBadge({ upstream }: { upstream: Upstream }) {
  const health = upstream.health;
  if (!upstream.enabled) return <Badge icon={CirclePause}>Off</Badge>;
  if (!health) return <Badge icon={CircleDashed}>Not used yet</Badge>;
  if (health.resting) return <Badge tone="warn" icon={Moon}>Resting</Badge>;
  if (health.connected) return <Badge tone="ok" icon={PlugZap}>Connected</Badge>;
  if (health.last_error) return <Badge tone="danger" icon={CircleX}>Failing</Badge>;
  return <Badge icon={CircleDashed}>Idle</Badge>;
}

const states = {
  new: { tone: "accent", icon: Sparkles, word: "New" },
  changed: { tone: "warn", icon: GitCompare, word: "Changed" },
  accepted: { tone: "ok", icon: CircleCheck, word: "Accepted" },
  refused: { tone: "danger", icon: Ban, word: "Refused" },
  gone: { tone: "neutral", icon: Trash2, word: "Gone" },
} as const;

/** Where a server's tool stands. */
export function ToolStateBadge({ state }: { state: string }) {
  const { tone, icon, word } = states[state as ToolState] ?? { tone: "neutral", icon: CircleDashed, word: state };
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
}

/** The lines of a difference, added and removed ones marked by sign and colour. */
export function DiffText({ text, label }: { text: string; label: string }) {
  return (
    <div
      role="region"
      aria-label={label}
      tabIndex={0}
      className="max-h-[420px] overflow-auto rounded-lg border border-line bg-sunken py-2 font-mono text-xs leading-[18px]"
    >
      {text.split("\n").map((line, number) => (
        <div
          key={number}
          className={
            line.startsWith("+") && !line.startsWith("+++")
              ? "whitespace-pre-wrap break-words bg-ok-soft px-3 text-ok-ink"
              : line.startsWith("-") && !line.startsWith("---")
                ? "whitespace-pre-wrap break-words bg-danger-soft px-3 text-danger-ink"
                : "whitespace-pre-wrap break-words px-3 text-ink-2"
          }
        >
          {line || " "}
        </div>
      ))}
    </div>
  );
}
