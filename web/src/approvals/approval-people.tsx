import { useState } from "react";

import { Button } from "@/components/ui/button";
import { DrawerSection } from "@/components/ui/drawer";
import { Field } from "@/components/ui/input";
import { Segmented } from "@/components/ui/segmented";
import { ErrorNote } from "@/components/ui/states";
import { EntityPicker } from "@/entities/entity-picker";
import { counted } from "@/lib/format";

import type { Decisions } from "./decide";
import { type Approval, isWaiting } from "./queries";
import { Requester } from "./requester";
import { nameOf } from "./words";

/** Who asks for whom, who decides, who said yes already; and giving it to someone else. */
export function People({
  approval,
  me,
  decisions,
  mayDecide,
}: {
  approval: Approval;
  me: string | undefined;
  decisions: Decisions;
  mayDecide: boolean | undefined;
}) {
  const [giving, setGiving] = useState(false);
  const review = approval.review;
  const waits = isWaiting(approval);
  return (
    <>
      <DrawerSection title="Requested by">
        <Requester actor={approval.actor} subject={approval.subject} className="text-sm text-ink-3" />
      </DrawerSection>
      {review && waits ? (
        <DrawerSection
          title="Decided by"
          aside={
            mayDecide && !giving ? (
              <Button look="link" size="sm" className="min-h-6" onClick={() => setGiving(true)}>
                Give to someone else…
              </Button>
            ) : null
          }
        >
          <p className="text-sm text-ink-2">
            {decidedBy(review.approvers ?? [], review.needed)}
            {review.assigned_to ? ` It was given to ${nameOf(review.assigned_to, me)}.` : ""}
            {review.assigned_role ? ` It was given to whoever holds ${review.assigned_role}.` : ""}
          </p>
          {review.votes.length > 0 ? (
            <p className="text-sm text-ink-3">
              Said yes: {review.votes.map((vote) => nameOf(vote.by, me)).join(", ")}
            </p>
          ) : null}
          {giving ? <Give approval={approval} decisions={decisions} onDone={() => setGiving(false)} /> : null}
        </DrawerSection>
      ) : null}
    </>
  );
}

function decidedBy(roles: string[], needed: number): string {
  const who = roles.length > 0 ? `whoever holds ${roles.length > 1 ? "one of " : ""}${roles.join(", ")}` : "whoever policy lets";
  return needed > 1 ? `${counted(needed, "person", "people")}: ${who}.` : `${who[0]!.toUpperCase()}${who.slice(1)}.`;
}

function Give({ approval, decisions, onDone }: { approval: Approval; decisions: Decisions; onDone: () => void }) {
  const [kind, setKind] = useState<"user" | "role">("user");
  const [to, setTo] = useState<string>();
  const send = (id: string) => decisions.reassign.mutate(kind === "role" ? { role: id } : { to: id }, { onSuccess: onDone });
  return (
    <form
      className="mt-3 space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (to !== undefined) send(to);
      }}
    >
      <Segmented
        name={`give-kind-${approval.id}`}
        label="Give to a person or a role"
        value={kind}
        onChange={(next) => {
          setKind(next === "role" ? "role" : "user");
          setTo(undefined);
        }}
        options={[
          { value: "user", title: "A person" },
          { value: "role", title: "A role" },
        ]}
      />
      <Field
        id={`give-${approval.id}`}
        label="Give to"
        hint={
          kind === "role"
            ? "Whoever holds it and may decide on such calls. They find it in their inbox."
            : "A person who may decide on such calls. They find it in their inbox."
        }
      >
        {(aria) => <EntityPicker key={kind} {...aria} type={kind} label="Give to" value={to === undefined ? [] : [to]} onChange={([id]) => setTo(id)} />}
      </Field>
      {decisions.reassign.isError ? <ErrorNote error={decisions.reassign.error} /> : null}
      <div className="flex gap-2">
        <Button type="submit" disabled={to === undefined || decisions.reassign.isPending}>
          Give
        </Button>
        <Button look="quiet" onClick={onDone}>
          Keep it
        </Button>
      </div>
    </form>
  );
}
