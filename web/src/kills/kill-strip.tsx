import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { OctagonX } from "lucide-react";

import { useHolds } from "@/api/queries";
import { clipped } from "@/lib/visible";

import { killsQuery } from "./queries";

/** Says above every page that something is stopped, to those who can lift it. */
export function KillStrip() {
  const manages = useHolds("*");
  const kills = useInfiniteQuery({ ...killsQuery, enabled: manages, refetchInterval: 30_000 });
  const thrown = kills.data?.pages.flatMap((page) => page.kills) ?? [];
  if (!manages || thrown.length === 0) return null;
  const all = thrown.find((kill) => kill.kind === "tenant");
  const first = all ?? thrown[0]!;
  return (
    <section aria-label="Kill switches" className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-danger bg-danger-soft px-8 py-2 text-sm text-danger-ink max-md:px-4">
      <OctagonX aria-hidden className="size-4 shrink-0" />
      <p className="min-w-0 flex-1">
        <span className="font-semibold">
          {all ? "Every call is stopped." : thrown.length === 1 ? "A kill switch is thrown." : `${thrown.length} kill switches are thrown.`}
        </span>{" "}
        {all ? null : <code className="break-all font-mono text-xs">{clipped(first.target, 80)}</code>} {clipped(first.reason, 120)}
      </p>
      <Link to="/kills" className="min-h-6 font-medium underline">
        Look and lift
      </Link>
    </section>
  );
}
