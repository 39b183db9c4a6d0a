import type { ReactNode } from "react";

import { cn } from "@/lib/cn";

/** A grey shape where something will be. */
export function Skeleton({ className }: { className?: string }) {
  return <div className={cn("animate-pulse rounded-md bg-hover", className)} />;
}

/** Skeletons of the shape that is loading, told once to those who listen. */
export function Loading({ label, children, className }: { label: string; children: ReactNode; className?: string }) {
  return (
    <div aria-busy className={className}>
      <p className="sr-only" role="status">
        {label}
      </p>
      <div aria-hidden>{children}</div>
    </div>
  );
}

/** Rows that are loading. */
export function LoadingRows({ label, rows = 6 }: { label: string; rows?: number }) {
  return (
    <Loading label={label}>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="flex items-center gap-4 border-b border-line px-5 py-3.5 last:border-0">
          <Skeleton className="h-4 w-40" />
          <Skeleton className="h-4 w-24" />
          <Skeleton className="ml-auto h-4 w-16" />
        </div>
      ))}
    </Loading>
  );
}
