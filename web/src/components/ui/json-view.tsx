import { memo, type ReactNode } from "react";

import { cn } from "@/lib/cn";
import { visible } from "@/lib/visible";

import { CopyButton } from "./copyable";

/** The most that is drawn; the rest can still be copied. */
const MOST = 100_000;

/** JSON, coloured, to read and to copy. */
export function JsonView({ value, label, className }: { value: unknown; label: string; className?: string }) {
  const text = JSON.stringify(value, null, 2) ?? "null";
  return (
    <div className={cn("relative rounded-lg border border-line bg-sunken", className)}>
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className="max-h-[480px] overflow-auto p-3.5 pr-12 font-mono text-xs leading-[20px] text-ink"
      >
        <Coloured text={visible(text.slice(0, MOST))} />
        {text.length > MOST ? "\n… copy it to see the rest" : null}
      </pre>
      <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} className="absolute right-2 top-2" />
    </div>
  );
}

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const Coloured = memo(function Coloured({ text }: { text: string }) {
  const parts: ReactNode[] = [];
  let last = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > last) parts.push(text.slice(last, match.index));
    const [whole, string, colon, word] = match;
    if (string && colon) parts.push(string, colon);
    else
      parts.push(
        <span key={match.index} className={string ? "text-ok-ink" : word ? "text-accent-ink" : "text-info-ink"}>
          {whole}
        </span>,
      );
    last = match.index + whole.length;
  }
  parts.push(text.slice(last));
  return <>{parts}</>;
});
