import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";

import { cn } from "@/lib/cn";

import { Button } from "./button";

/** Puts a text on the clipboard and says so for a moment. */
export function useCopy(): [copied: boolean, copy: (text: string) => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1600);
    return () => clearTimeout(timer);
  }, [copied]);
  return [copied, (text) => void navigator.clipboard?.writeText(text).then(() => setCopied(true))];
}

/** A button that copies. */
export function CopyButton({ text, label, className }: { text: string; label: string; className?: string }) {
  const [copied, copy] = useCopy();
  return (
    <Button look="quiet" size="icon-sm" className={className} aria-label={copied ? "Copied" : label} onClick={() => copy(text)}>
      {copied ? <Check aria-hidden /> : <Copy aria-hidden />}
    </Button>
  );
}

/** An id, shortened, that is copied whole by a click. */
export function CopyableId({ id, className }: { id: string; className?: string }) {
  const [copied, copy] = useCopy();
  return (
    <button
      type="button"
      title={`${id} · copy`}
      onClick={() => copy(id)}
      className={cn(
        "inline-flex min-h-6 items-center gap-1 rounded-sm font-mono text-xs text-ink-3 hover:text-ink [&_svg]:size-3",
        className,
      )}
    >
      {shortId(id)}
      {copied ? <Check aria-hidden /> : <Copy aria-hidden />}
      <span className="sr-only">{copied ? "copied" : "copy"}</span>
    </button>
  );
}

/** An id of ours with what tells it from others, its end; a hash by its beginning; anything else whole. */
export function shortId(id: string): string {
  const ours = /^([a-z]+_)[0-9a-f]{24}([0-9a-f]{8})$/.exec(id);
  if (ours) return `${ours[1]}${ours[2]}`;
  return /^[0-9a-f]{40,}$/.test(id) ? id.slice(0, 12) : id;
}
