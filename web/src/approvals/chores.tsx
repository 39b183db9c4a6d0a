import { ClipboardCheck, LogIn } from "lucide-react";
import type { ReactNode } from "react";

import type { Schemas } from "@/api/client";
import { ButtonLink } from "@/components/ui/button-link";
import { Card } from "@/components/ui/card";
import { counted } from "@/lib/format";
import { visible } from "@/lib/visible";

type Chore = { key: string; icon: typeof LogIn; words: ReactNode; way: ReactNode };

/** What waits for me beside calls: tools of MCP servers to review, and connections that no longer work. */
export function choresOf({ reviews = 0, connections = [] }: Schemas["InboxView"]): Chore[] {
  const review: Chore = {
    key: "review",
    icon: ClipboardCheck,
    words: `${counted(reviews, "tool")} of MCP servers to review. Nobody can call ${reviews === 1 ? "it" : "them"} before.`,
    way: <ButtonLink size="sm" to="/upstreams" search={{ tab: "review" }}>Review</ButtonLink>,
  };
  const again = connections.map((connection): Chore => ({
    key: connection.id,
    icon: LogIn,
    words: (
      <>
        The connection to <code className="break-all font-mono text-xs">{visible(connection.service)}</code> no longer works. Tools that need it
        fail until it is made again.
      </>
    ),
    way: <ButtonLink size="sm" to="/connections" search={{ id: connection.id }}>See it</ButtonLink>,
  }));
  return reviews > 0 ? [review, ...again] : again;
}

export function Chores({ chores }: { chores: Chore[] }) {
  return (
    <Card className="mb-4">
      <ul aria-label="Also waiting for you" className="divide-y divide-line">
        {chores.map(({ key, icon: Icon, words, way }) => (
          <li key={key} className="flex items-center gap-4 px-5 py-3 text-sm max-sm:px-4">
            <Icon aria-hidden className="size-5 shrink-0 text-ink-3" />
            <p className="min-w-0 flex-1 text-pretty">{words}</p>
            {way}
          </li>
        ))}
      </ul>
    </Card>
  );
}
