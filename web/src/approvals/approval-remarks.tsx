import { MessageCircle } from "lucide-react";
import { useState } from "react";

import { Button } from "@/components/ui/button";
import { DrawerSection } from "@/components/ui/drawer";
import { Input } from "@/components/ui/input";
import { RelativeTime } from "@/components/ui/relative-time";
import { ErrorNote } from "@/components/ui/states";
import { visible } from "@/lib/visible";

import type { Decisions } from "./decide";
import { type Approval, isWaiting } from "./queries";
import { nameOf } from "./words";

/** Questions back and their answers. Whoever asks reads them too. */
export function Remarks({ approval, me, decisions }: { approval: Approval; me: string | undefined; decisions: Decisions }) {
  const [text, setText] = useState("");
  const remarks = approval.review?.remarks ?? [];
  const waits = isWaiting(approval);
  if (!waits && remarks.length === 0) return null;
  const own = approval.actor === me;
  const send = () => decisions.remark.mutate(text.trim(), { onSuccess: () => setText("") });
  return (
    <DrawerSection title="Remarks" icon={<MessageCircle aria-hidden />}>
      {remarks.length > 0 ? (
        <ol aria-label="Remarks" className="mb-3 space-y-3">
          {remarks.map((remark, at) => (
            <li key={at} className="text-sm">
              <span className="font-medium">{sentenceStart(nameOf(remark.by, me))}</span>{" "}
              <RelativeTime at={remark.at} className="text-xs text-ink-3" />
              <p className="whitespace-pre-wrap break-words text-ink-2">{visible(remark.text)}</p>
            </li>
          ))}
        </ol>
      ) : null}
      {waits ? (
        <form
          className="flex gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() !== "") send();
          }}
        >
          <Input
            aria-label={own ? "Answer or explain" : "Ask back"}
            placeholder={own ? "Answer or explain" : "Ask back before you decide"}
            value={text}
            maxLength={2000}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" disabled={text.trim() === "" || decisions.remark.isPending}>
            {own ? "Say" : "Ask"}
          </Button>
        </form>
      ) : null}
      {decisions.remark.isError ? <ErrorNote error={decisions.remark.error} className="mt-2" /> : null}
    </DrawerSection>
  );
}

const sentenceStart = (name: string): string => (name === "you" ? "You" : name);
