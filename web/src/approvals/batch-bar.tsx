import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { useState } from "react";

import { asProblem } from "@/api/error";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/input";
import { toast } from "@/components/ui/toast";
import { counted } from "@/lib/format";

import { approveCall, refreshApprovals, rejectCall } from "./decide";
import { type Approval, inputOf } from "./queries";

/** Whether two calls may be decided together: the same tool, asked for by the same rule. */
export function goTogether(one: Approval, other: Approval): boolean {
  return one.tool_id === other.tool_id && one.rule === other.rule;
}

/** Whether the list shows what a call would do: nobody says yes to what they did not see. */
export function isShown(approval: Approval): boolean {
  return approval.review != null && inputOf(approval) != null;
}

/** Says yes or no to several calls of one tool. Each is decided by itself, on what its row shows. */
export function BatchBar({ chosen, onDone }: { chosen: Approval[]; onDone: () => void }) {
  const client = useQueryClient();
  const [mode, setMode] = useState<"idle" | "deny" | "approve">("idle");
  const [text, setText] = useState("");
  const [left, setLeft] = useState<string[]>([]);
  const first = chosen[0]!;
  const destroys = first.effect === "destructive";
  const decide = useMutation({
    mutationFn: async (yes: boolean) => {
      const missed: string[] = [];
      // One after the other: each that is late says so, and the rest goes on.
      for (const approval of chosen) {
        const digest = approval.review?.digest;
        try {
          if (yes) await approveCall(approval.id, { digest, confirm: destroys ? text.trim() : undefined });
          else await rejectCall(approval.id, text.trim(), digest);
        } catch (error) {
          missed.push(asProblem(error).sentence);
        }
      }
      return { missed, yes };
    },
    onSuccess: ({ missed, yes }) => {
      const done = chosen.length - missed.length;
      if (done > 0) toast(`${counted(done, "call")} ${yes ? "approved" : "denied"}`);
      setLeft(missed);
      setMode("idle");
      setText("");
      if (missed.length === 0) onDone();
    },
    onSettled: () => refreshApprovals(client),
  });
  const ask = mode === "deny" || (mode === "approve" && destroys);
  const ready = mode === "deny" ? text.trim() !== "" : text.trim() === first.tool_id;
  return (
    <section aria-label="Several at once" className="border-b border-line bg-accent-soft px-5 py-3 max-sm:px-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="min-w-0 text-sm text-accent-ink">
          <strong className="font-semibold">{counted(chosen.length, "call")}</strong> of{" "}
          <span className="break-all font-mono text-xs">{first.tool_id}</span>
        </p>
        {ask ? null : (
          <div className="flex flex-wrap gap-2">
            <Button size="sm" look="quiet" onClick={onDone}>
              Clear
            </Button>
            <Button size="sm" look="danger" onClick={() => setMode("deny")}>
              Deny {chosen.length}…
            </Button>
            <Button
              size="sm"
              look="primary"
              disabled={decide.isPending}
              onClick={() => (destroys ? setMode("approve") : decide.mutate(true))}
            >
              <Check aria-hidden />
              Approve {chosen.length}
            </Button>
          </div>
        )}
      </div>
      {ask ? (
        <form
          className="mt-3 flex flex-wrap items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (ready) decide.mutate(mode === "approve");
          }}
        >
          <div className="min-w-60 flex-1">
            <Field id="batch-text" label={mode === "deny" ? "Why not?" : `Type ${first.tool_id} to approve all of them`}>
              {(aria) => (
                <Input {...aria} autoFocus maxLength={2000} value={text} onChange={(event) => setText(event.target.value)} />
              )}
            </Field>
          </div>
          <Button look="quiet" onClick={() => setMode("idle")}>
            Back
          </Button>
          <Button type="submit" look={mode === "deny" ? "danger" : "primary"} disabled={!ready || decide.isPending}>
            {mode === "deny" ? "Deny" : "Approve"} {chosen.length}
          </Button>
        </form>
      ) : null}
      {left.length > 0 ? (
        <p role="alert" className="mt-2 text-sm text-danger-ink">
          {counted(left.length, "call was", "calls were")} left as they are: {[...new Set(left)].join(" ")}
        </p>
      ) : null}
    </section>
  );
}
