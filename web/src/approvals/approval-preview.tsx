import { FlaskConical } from "lucide-react";

import { DiffRows } from "@/components/ui/diff-rows";
import { DrawerSection } from "@/components/ui/drawer";
import { formatCount } from "@/lib/format";

import { readable } from "./changes";
import { type Approval, isWaiting, previewOf } from "./queries";
import { Sentence } from "./words";

/** The numbers that say how much is at stake. */
export function Impact({ approval }: { approval: Approval }) {
  const preview = previewOf(approval);
  const review = approval.review;
  const facts: [string, string][] = [];
  if (preview?.count != null) facts.push(["Things it touches", formatCount(preview.count)]);
  if (preview?.reversible != null) facts.push(["Can be undone", preview.reversible ? "Yes" : "No"]);
  if (approval.egress === "write") facts.push(["Leaves the house", "Yes, it sends out"]);
  if (review && review.needed > 1) facts.push(["Said yes", `${review.votes.length} of ${review.needed}`]);
  return facts.length === 0 ? null : (
    <dl className="flex divide-x divide-line rounded-xl border border-line max-sm:flex-col max-sm:divide-x-0 max-sm:divide-y">
      {facts.map(([title, value]) => (
        <div key={title} className="flex-1 px-4 py-3">
          <dt className="text-xs text-ink-3">{title}</dt>
          <dd className="text-sm font-semibold tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What would change, as the tool itself foresees it. */
export function WhatWouldChange({ approval }: { approval: Approval }) {
  const preview = previewOf(approval);
  const review = approval.review;
  const waits = isWaiting(approval);
  if (review?.preview_failed != null) {
    return (
      <DrawerSection title="What would change" icon={<FlaskConical aria-hidden />}>
        <p className="rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn-ink">
          The dry run did not work, so nobody knows in advance: <Sentence text={review.preview_failed} />
        </p>
      </DrawerSection>
    );
  }
  if (!preview) {
    return waits ? (
      <p className="text-sm text-ink-3">This tool can’t say in advance what it would change. Look at the input below.</p>
    ) : null;
  }
  return preview.changes?.length ? (
    <DrawerSection
      title={waits ? "What would change" : "What was foreseen"}
      icon={<FlaskConical aria-hidden />}
      aside={
        <>
          From the dry run{waits ? <span className="max-sm:hidden">, nothing has changed yet</span> : null}
        </>
      }
    >
      <DiffRows label="What would change" changes={readable(preview.changes)} />
    </DrawerSection>
  ) : null;
}
