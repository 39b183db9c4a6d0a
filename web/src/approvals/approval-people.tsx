import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { useHolds } from "@/api/queries";
import { Button } from "@/components/ui/button";
import { DrawerSection } from "@/components/ui/drawer";
import { Field, Input } from "@/components/ui/input";
import { ErrorNote } from "@/components/ui/states";
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
  const [to, setTo] = useState("");
  const manages = useHolds("*");
  // Only those who manage people may list them; everyone else knows whom they mean.
  const people = useQuery({
    queryKey: ["principals", "people"],
    queryFn: async () =>
      (await unwrap(api.GET("/api/v1/principals", { params: { query: { limit: 500 } } }))).principals.filter((one) =>
        one.id.startsWith("user:"),
      ),
    enabled: manages,
  });
  const id = to.includes(":") ? to.trim() : `user:${to.trim()}`;
  const send = () => decisions.reassign.mutate(id, { onSuccess: onDone });
  return (
    <form
      className="mt-3 space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (to.trim() !== "") send();
      }}
    >
      <Field id={`give-${approval.id}`} label="Give to" hint="A person who may decide on such calls. They find it in their inbox.">
        {(aria) => (
          <Input
            {...aria}
            list={`people-${approval.id}`}
            value={to}
            autoFocus
            spellCheck={false}
            autoCapitalize="none"
            placeholder="user:name"
            onChange={(event) => setTo(event.target.value)}
          />
        )}
      </Field>
      <datalist id={`people-${approval.id}`}>
        {people.data?.map((person) => (
          <option key={person.id} value={person.id}>
            {person.title}
          </option>
        ))}
      </datalist>
      {decisions.reassign.isError ? <ErrorNote error={decisions.reassign.error} /> : null}
      <div className="flex gap-2">
        <Button type="submit" disabled={to.trim() === "" || decisions.reassign.isPending}>
          Give
        </Button>
        <Button look="quiet" onClick={onDone}>
          Keep it
        </Button>
      </div>
    </form>
  );
}
