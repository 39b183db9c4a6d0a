import type { ReactNode } from "react";

/** What is known of something, name by name. */
export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="divide-y divide-line rounded-xl border border-line">
      {facts.map(([title, value]) => (
        <div key={title} className="grid grid-cols-[132px_minmax(0,1fr)] gap-4 px-4 py-2.5 text-sm max-sm:grid-cols-1 max-sm:gap-0.5">
          <dt className="text-ink-3">{title}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A few words of code side by side; what is said when there are none. */
export function Words({ words, none, most = 40 }: { words: readonly string[]; none: string; most?: number }) {
  if (words.length === 0) return <span className="text-ink-3">{none}</span>;
  return (
    <span className="flex flex-wrap gap-1">
      {words.slice(0, most).map((word) => (
        <code key={word} className="break-all rounded-sm bg-hover px-1.5 py-0.5 font-mono text-xs text-ink-2">
          {word}
        </code>
      ))}
      {words.length > most ? <span className="text-xs text-ink-3">and {words.length - most} more</span> : null}
    </span>
  );
}
