import { Bot, Server, UserRound } from "lucide-react";

import { principalName } from "@/lib/format";

const icons = { agent: Bot, service: Server, user: UserRound } as const;

/** Who asks, and for whom. */
export function Requester({ actor, subject, className }: { actor: string; subject?: string | null; className?: string }) {
  const { kind, name } = principalName(actor);
  const Icon = icons[kind as keyof typeof icons] ?? UserRound;
  return (
    <span className={className}>
      <span className="inline-flex items-center gap-1.5" title={actor}>
        <span
          aria-hidden
          className="flex size-[18px] shrink-0 items-center justify-center rounded-full border border-line bg-sunken text-ink-3"
        >
          <Icon className="size-3" />
        </span>
        <span className="break-all text-ink-2">{name}</span>
      </span>
      {subject ? <span title={subject}> for {principalName(subject).name}</span> : null}
    </span>
  );
}
