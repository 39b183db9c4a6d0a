import { Fragment } from "react";

import { sentence } from "@/api/error";
import { principalName } from "@/lib/format";
import { clipped } from "@/lib/visible";

import { type Approval, previewOf } from "./queries";

/** What the call is about, in one line: what the tool foresees, or the tool's own title. */
export function titleOf(approval: Approval, toolTitle: string | undefined): string {
  const summary = previewOf(approval)?.summary.trim();
  return clipped(summary ? sentence(summary).replace(/\.$/, "") : (toolTitle ?? approval.tool_id), 240);
}

/** Someone by name, or "you". */
export function nameOf(principal: string, me: string | undefined): string {
  return principal === me ? "you" : principalName(principal).name;
}

/** A sentence of the server's: what stands in backticks is code. */
export function Sentence({ text }: { text: string }) {
  return (
    <>
      {clipped(sentence(text), 1000)
        .split("`")
        .map((part, at) =>
          at % 2 === 0 ? (
            <Fragment key={at}>{part}</Fragment>
          ) : (
            <code key={at} className="break-all font-mono text-xs text-ink-2">
              {part}
            </code>
          ),
        )}
    </>
  );
}
