import { ArrowRight, Check, ShieldCheck } from "lucide-react";
import { type ReactNode, useState } from "react";

import { Button } from "@/components/ui/button";
import { Field, Input, Kbd, Textarea } from "@/components/ui/input";
import { ErrorNote } from "@/components/ui/states";

import type { Decisions } from "./decide";
import { type Approval, isWaiting } from "./queries";
import { firstScope, rememberOf } from "./remember";
import { RememberPicker } from "./remember-picker";

/** What the person is about to do. */
export type Mode = "idle" | "deny" | "approve" | "remember" | "edit";

type FooterProps = {
  approval: Approval;
  me: string | undefined;
  mode: Mode;
  onMode: (mode: Mode) => void;
  decisions: Decisions;
  mayDecide: boolean | undefined;
  /** What was seen is no longer what waits: first look, then decide. */
  stale: boolean;
  digest: string | undefined;
  onNext: (() => void) | undefined;
};

/** The rule that caused it, and the decision. */
export function ApprovalFooter(props: FooterProps) {
  const { approval, mode, decisions, mayDecide } = props;
  if (!isWaiting(approval)) return <Over {...props} />;
  if (mayDecide === undefined) return <Rule approval={approval} />;
  if (!mayDecide) return <NotMine {...props} />;
  if (mode === "deny") return <Deny {...props} />;
  if (mode === "approve" || mode === "remember") return <Approve {...props} />;
  return (
    <>
      <Rule approval={approval} />
      <div className="flex flex-wrap items-center gap-2">
        {approval.actor === props.me ? null : (
          <Button look="quiet" disabled={props.stale} onClick={() => props.onMode("remember")}>
            Remember…
          </Button>
        )}
        <Button look="danger" onClick={() => props.onMode("deny")}>
          Deny…
        </Button>
        <Button look="primary" disabled={props.stale || decisions.approve.isPending} onClick={() => approveNow(props)}>
          <Check aria-hidden />
          {approveWord(approval)}
        </Button>
      </div>
    </>
  );
}

/** Approves at once, or asks for the tool's name first where something is destroyed. */
export function approveNow({ approval, onMode, decisions, digest, stale }: FooterProps): void {
  if (stale || decisions.approve.isPending) return;
  if (approval.effect === "destructive") onMode("approve");
  else decisions.approve.mutate({ digest });
}

function approveWord(approval: Approval): string {
  const { needed = 1, votes = [] } = approval.review ?? {};
  return needed > votes.length + 1 ? `Say yes, ${votes.length + 1} of ${needed}` : "Approve and run";
}

function Rule({ approval, children }: { approval: Approval; children?: ReactNode }) {
  return (
    <p className="flex min-w-0 flex-1 items-center gap-2 text-xs text-ink-3">
      <ShieldCheck aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 break-words">{children ?? (approval.rule ? `Rule: ${approval.rule}` : "A person decides on this")}</span>
    </p>
  );
}

function Over({ approval, onNext }: FooterProps) {
  return (
    <>
      <Rule approval={approval} />
      {onNext ? (
        <Button onClick={onNext}>
          Next
          <Kbd>j</Kbd>
          <ArrowRight aria-hidden />
        </Button>
      ) : null}
    </>
  );
}

function NotMine({ approval, me, onNext }: FooterProps) {
  const review = approval.review;
  const voted = review?.votes.some((vote) => vote.by === me);
  return (
    <>
      <Rule approval={approval}>
        {voted
          ? `You said yes. ${review!.votes.length} of ${review!.needed} so far.`
          : "Someone else decides on this. You can say something about it above."}
      </Rule>
      {onNext ? <Button onClick={onNext}>Next</Button> : null}
    </>
  );
}

function Deny({ approval, decisions, digest, onMode }: FooterProps) {
  const [reason, setReason] = useState("");
  const send = () => decisions.reject.mutate({ reason: reason.trim(), digest }, { onSuccess: () => onMode("idle") });
  return (
    <form
      className="w-full space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason.trim() !== "") send();
      }}
    >
      <Field id={`deny-${approval.id}`} label="Why not?" hint="Whoever asked reads this, an agent too, and can do better.">
        {(aria) => (
          <Textarea
            {...aria}
            autoFocus
            maxLength={2000}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && reason.trim() !== "") send();
            }}
          />
        )}
      </Field>
      {decisions.reject.isError ? <ErrorNote error={decisions.reject.error} /> : null}
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={() => onMode("idle")}>
          Back
        </Button>
        <Button type="submit" look="danger" disabled={reason.trim() === "" || decisions.reject.isPending}>
          Deny it
        </Button>
      </div>
    </form>
  );
}

function Approve({ approval, decisions, digest, mode, onMode, stale }: FooterProps) {
  const [typed, setTyped] = useState("");
  const [scope, setScope] = useState(() => firstScope(approval));
  const remember = mode === "remember";
  const destroys = approval.effect === "destructive";
  const ready = (!destroys || typed.trim() === approval.tool_id) && !stale && !decisions.approve.isPending;
  const send = () =>
    decisions.approve.mutate(
      {
        digest,
        confirm: destroys ? typed.trim() : undefined,
        remember: remember ? rememberOf(approval, scope) : undefined,
      },
      { onSuccess: () => onMode("idle") },
    );
  return (
    <form
      className="w-full space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) send();
      }}
    >
      {remember ? <RememberPicker approval={approval} scope={scope} onChange={setScope} /> : null}
      {destroys ? (
        <Field
          id={`confirm-${approval.id}`}
          label={
            <>
              Type <code className="font-mono text-xs">{approval.tool_id}</code> to approve
            </>
          }
          hint="This call destroys something."
        >
          {(aria) => (
            <Input
              {...aria}
              autoFocus={!remember}
              value={typed}
              spellCheck={false}
              autoComplete="off"
              autoCapitalize="none"
              className="font-mono"
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
      ) : null}
      {decisions.approve.isError ? <ErrorNote error={decisions.approve.error} /> : null}
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={() => onMode("idle")}>
          Back
        </Button>
        <Button type="submit" look="primary" disabled={!ready}>
          <Check aria-hidden />
          {remember ? "Approve and remember" : approveWord(approval)}
        </Button>
      </div>
    </form>
  );
}
