import { useMutation } from "@tanstack/react-query";
import { FlaskConical, MessageCircleQuestion, ShieldCheck } from "lucide-react";

import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { ButtonLink } from "@/components/ui/button-link";
import { type Change, DiffRows } from "@/components/ui/diff-rows";
import { RelativeTime } from "@/components/ui/relative-time";
import { ErrorNote } from "@/components/ui/states";
import { principalName } from "@/lib/format";
import { clipped } from "@/lib/visible";

import type { Run } from "./queries";

type Preview = { summary?: string; changes?: Change[]; count?: number; reversible?: boolean };

/** What a run would change, from its dry run. */
export function PreviewOf({ run }: { run: Run }) {
  const preview = run.review?.preview as Preview | null | undefined;
  if (!preview) return run.review?.preview_failed ? <p className="text-xs text-ink-3">No preview: {run.review.preview_failed}.</p> : null;
  return (
    <section>
      <div className="mb-2 flex items-center justify-between gap-3">
        <h3 className="flex items-center gap-2 text-sm font-semibold">
          <FlaskConical aria-hidden className="size-4 text-ink-3" />
          What would change
        </h3>
        <span className="text-xs text-ink-3">From the dry run, nothing has changed yet</span>
      </div>
      {preview.summary ? <p className="mb-3 break-words text-sm text-ink-2">{clipped(preview.summary, 600)}</p> : null}
      {preview.changes?.length ? <DiffRows changes={preview.changes} label="What would change" /> : null}
    </section>
  );
}

/** What the MCP server behind a running call asks, and the way to its form. */
function ServerAsks({ run }: { run: Run }) {
  const open = useMutation({
    mutationFn: async () => {
      // Opened while the click counts: browsers refuse a window that comes after an answer.
      const tab = window.open("", "_blank");
      try {
        const { share_url } = await unwrap(api.POST("/api/v1/invocations/{id}/links", { params: { path: { id: run.id } } }));
        (tab ?? window).location.assign(share_url!);
      } catch (error) {
        tab?.close();
        throw error;
      }
    },
  });
  return (
    <div className="space-y-3 text-sm text-ink-2">
      <p>The MCP server behind this tool asks a person something. The run goes on when it is answered.</p>
      {open.isError ? <ErrorNote error={open.error} /> : null}
      <Button disabled={open.isPending} onClick={() => open.mutate()}>
        <MessageCircleQuestion aria-hidden />
        Answer it
      </Button>
    </div>
  );
}

/** What a run waits for, and the way to whoever can help. */
export function WaitingFor({ run }: { run: Run }) {
  const review = run.review;
  const waiting = run.events?.findLast((event) => event.type === "tool.waiting")?.data as
    | { for?: unknown; reason?: unknown }
    | undefined;
  if (run.status === "waiting") {
    const what = typeof waiting?.reason === "string" ? waiting.reason : "an answer from outside";
    return <p className="text-sm text-ink-2">It waits for {what}. You can leave this page: the result is kept.</p>;
  }
  if (run.status === "running" && run.asks) return <ServerAsks run={run} />;
  if (run.status !== "pending") return null;
  return (
    <div className="space-y-3 text-sm text-ink-2">
      <p>
        {review && review.needed > 1 ? `${review.needed} people have` : "A person has"} to decide before it runs.
        {review ? (
          <>
            {" "}
            Unanswered, it expires <RelativeTime at={review.deadline} />.
          </>
        ) : null}
      </p>
      {review?.assigned_to ? <p>It was given to {principalName(review.assigned_to).name}.</p> : null}
      {review?.assigned_role ? <p>It was given to whoever holds {review.assigned_role}.</p> : null}
      {review?.approvers?.length ? <p>Holders of {review.approvers.join(", ")} may decide.</p> : null}
      <ButtonLink to="/approvals" search={{ id: run.id }}>
        <ShieldCheck aria-hidden />
        Open the approval
      </ButtonLink>
    </div>
  );
}
