import { useQuery } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";

import { signInQuery } from "@/api/queries";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { CopyableId } from "@/components/ui/copyable";
import { DiffRows } from "@/components/ui/diff-rows";
import { BadgeSkeleton, Drawer, DrawerSection } from "@/components/ui/drawer";
import { Kbd } from "@/components/ui/input";
import { JsonView } from "@/components/ui/json-view";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { EffectBadge, EgressBadge } from "@/components/ui/state-badges";
import { ErrorNote, ErrorState } from "@/components/ui/states";
import { FileLinks } from "@/files/file-links";
import { toolsQuery } from "@/tools/queries";

import { ApprovalEdit } from "./approval-edit";
import { ApprovalFooter, approveNow, type Mode } from "./approval-footer";
import { Outcome } from "./approval-outcome";
import { People } from "./approval-people";
import { Impact, WhatWouldChange } from "./approval-preview";
import { Remarks } from "./approval-remarks";
import { Settle } from "./approval-settle";
import { Timeline } from "./approval-timeline";
import { editedFields, readable } from "./changes";
import { useDecisions } from "./decide";
import { type Approval, approvalQuery, inputOf, isWaiting } from "./queries";
import { TimeLeft } from "./time-left";
import { nameOf, Sentence, titleOf } from "./words";

type DrawerProps = {
  id: string;
  /** Whether this person may decide on it now; left out while that is not known. */
  mayDecide: boolean | undefined;
  onClose: () => void;
  onNext?: () => void;
  onBefore?: () => void;
};

/** One call, to decide on: what it would do first, its raw input after. */
export function ApprovalDrawer(props: DrawerProps) {
  const found = useQuery(approvalQuery(props.id));
  if (found.data) return <Opened key={props.id} {...props} approval={found.data} />;
  return (
    <Drawer open onClose={props.onClose} badges={found.isError ? undefined : <BadgeSkeleton />} title={found.isError ? "This call can’t be shown" : "Approval"}>
      {found.isError ? (
        <ErrorState error={found.error} what="The call could not be loaded" onRetry={() => void found.refetch()} />
      ) : (
        <Loading label="Loading the call" className="space-y-4">
          <Skeleton className="h-16 rounded-xl" />
          <Skeleton className="mt-4 h-40 rounded-xl" />
        </Loading>
      )}
    </Drawer>
  );
}

function Opened({ approval, mayDecide, onClose, onNext, onBefore }: DrawerProps & { approval: Approval }) {
  const me = useQuery(signInQuery).data?.principal;
  const tools = useQuery(toolsQuery);
  const tool = tools.data?.find((one) => one.id === approval.tool_id);
  const decisions = useDecisions(approval.id);
  const [mode, setMode] = useState<Mode>("idle");
  const waits = isWaiting(approval);
  // A decision is about what this person saw. When someone changes it meanwhile, they look again first.
  const digest = approval.review?.digest;
  const [seen, setSeen] = useState(digest);
  const changedByMe = decisions.edit.isPending || decisions.edit.data?.review?.digest === digest;
  const stale = waits && seen !== digest && !changedByMe;
  const waited = useRef(waits);
  const edited = editedFields(approval);
  const late = waited.current && !waits && approval.decided_by !== me;
  const agreed = stale ? seen : digest;
  const footer = { approval, me, mode, onMode: setMode, decisions, mayDecide, stale, digest: agreed, onNext };
  const close = () => {
    // Esc leaves what was begun before it leaves the call.
    if (mode !== "idle" && window.event instanceof window.KeyboardEvent) setMode("idle");
    else onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const act = {
      j: onNext,
      k: onBefore,
      a: waits && mayDecide && mode === "idle" ? () => approveNow(footer) : undefined,
      e: waits && mayDecide && mode === "idle" ? () => setMode("edit") : undefined,
      d: waits && mayDecide && mode === "idle" ? () => setMode("deny") : undefined,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    // Events of the drawer arrive here although it is drawn elsewhere.
    <div onKeyDown={onKeyDown}>
      <Drawer
        open
        onClose={close}
        badges={
          <>
            <EffectBadge effect={approval.effect} />
            <EgressBadge egress={approval.egress} />
            <Badge>{tool?.title ?? approval.tool_id}</Badge>
            {waits && approval.review ? <TimeLeft until={approval.review.deadline} /> : null}
          </>
        }
        title={<span className="break-words">{titleOf(approval, tool?.title)}</span>}
        description={waits && approval.reason ? <Sentence text={approval.reason} /> : undefined}
        footer={mode === "edit" && waits ? undefined : <ApprovalFooter {...footer} />}
      >
        <Outcome approval={approval} me={me} late={late} />
        {approval.status === "in_doubt" && mayDecide ? <Settle approval={approval} decisions={decisions} /> : null}
        {stale ? (
          <div role="alert" className="flex flex-wrap items-center justify-between gap-3 rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn-ink">
            <span>{changedBy(approval, me)} changed the input while you were looking. This is what would run now.</span>
            <Button size="sm" onClick={() => setSeen(digest)}>
              I have seen it
            </Button>
          </div>
        ) : null}
        {waits && mode === "idle" && decisions.approve.isError ? <ErrorNote error={decisions.approve.error} /> : null}
        <Impact approval={approval} />
        {mode === "edit" && waits ? (
          <ApprovalEdit approval={approval} decisions={decisions} digest={agreed} onDone={() => setMode("idle")} />
        ) : null}
        <WhatWouldChange approval={approval} />
        <People approval={approval} me={me} decisions={decisions} mayDecide={mayDecide} />
        {edited.length > 0 ? (
          <DrawerSection title="What was changed of the input" icon={<Pencil aria-hidden />} aside="Both inputs are kept">
            <DiffRows label="What was changed of the input" changes={readable(edited)} />
          </DrawerSection>
        ) : null}
        {mode === "edit" ? null : (
          <DrawerSection
            title={edited.length > 0 ? "Input that runs" : "Input"}
            aside={
              waits && mayDecide ? (
                <Button look="quiet" size="sm" disabled={stale} onClick={() => setMode("edit")}>
                  <Pencil aria-hidden />
                  Edit
                  <Kbd>e</Kbd>
                </Button>
              ) : null
            }
          >
            <JsonView value={inputOf(approval)} label="Input" />
            <FileLinks run={approval.id} value={inputOf(approval)} label="Files of the input" />
          </DrawerSection>
        )}
        <Remarks approval={approval} me={me} decisions={decisions} />
        <Timeline approval={approval} me={me} />
        <p className="text-xs text-ink-3">
          Call <CopyableId id={approval.id} />
        </p>
      </Drawer>
    </div>
  );
}

function changedBy(approval: Approval, me: string | undefined): string {
  const edit = approval.events?.findLast(
    (event) => event.type === "tool.review_changed" && JSON.stringify(event.data).startsWith('{"step":{"edited"'),
  );
  const name = edit ? nameOf(edit.actor, me) : "Someone";
  return name === "you" ? "You" : name;
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)) &&
    !["checkbox", "radio"].includes((target as HTMLInputElement).type)
  );
}
