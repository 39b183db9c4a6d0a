import { useSyncExternalStore } from "react";

import { formatExact, formatRelative } from "@/lib/format";

// One clock for all: every shown time is told anew together, and only while someone looks.
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const tell of listeners) tell();
  }, 15_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The time, told anew every few seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** How long ago; the exact time in its title. */
export function RelativeTime({ at, className }: { at: string; className?: string }) {
  // What was made a moment ago is never in the future.
  const seen = Math.max(useNow(), new Date(at).getTime() > Date.now() ? 0 : Date.now());
  return (
    <time dateTime={at} title={formatExact(at)} className={className}>
      {formatRelative(at, seen)}
    </time>
  );
}
