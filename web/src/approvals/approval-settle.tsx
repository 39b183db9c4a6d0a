import { useState } from "react";

import { Button } from "@/components/ui/button";
import { DrawerSection } from "@/components/ui/drawer";
import { Field, Input } from "@/components/ui/input";
import { ErrorNote } from "@/components/ui/states";

import type { Decisions, Settlement } from "./decide";
import type { Approval } from "./queries";

const choices: { value: Settlement; title: string; hint: string }[] = [
  { value: "done", title: "It happened", hint: "Marks the call as done. Nothing runs." },
  { value: "failed", title: "It did not happen", hint: "Marks the call as failed. Nothing runs." },
  { value: "run_again", title: "Run it again", hint: "Only if it did not happen, or may happen twice." },
];

/** A write whose outcome was lost: a person looks and says what became of it. */
export function Settle({ approval, decisions }: { approval: Approval; decisions: Decisions }) {
  const [choice, setChoice] = useState<Settlement | null>(null);
  const [typed, setTyped] = useState("");
  const mustType = choice === "run_again" && approval.effect === "destructive";
  const ready = choice !== null && (!mustType || typed.trim() === approval.tool_id) && !decisions.settle.isPending;
  return (
    <DrawerSection title="What became of it?">
      <form
        className="space-y-4 rounded-xl border border-line p-5 max-sm:p-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready && choice) decisions.settle.mutate(choice);
        }}
      >
        <p className="text-sm text-ink-2">
          The call was under way when contact was lost. Look where it would have left a trace, then say what you found.
        </p>
        <fieldset className="space-y-1">
          <legend className="sr-only">What became of it?</legend>
          {choices.map((one) => (
            <label key={one.value} className="flex cursor-pointer items-start gap-2.5 rounded-lg px-2 py-1.5 hover:bg-hover">
              <input
                type="radio"
                name="settle"
                value={one.value}
                checked={choice === one.value}
                onChange={() => setChoice(one.value)}
                className="mt-1 size-4 shrink-0 accent-accent"
              />
              <span>
                <span className="block text-sm font-medium">{one.title}</span>
                <span className="block text-xs text-ink-3">{one.hint}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {mustType ? (
          <Field id={`again-${approval.id}`} label={`Type ${approval.tool_id} to run it again`} hint="This call destroys something.">
            {(aria) => (
              <Input {...aria} className="font-mono" value={typed} onChange={(event) => setTyped(event.target.value)} />
            )}
          </Field>
        ) : null}
        {decisions.settle.isError ? <ErrorNote error={decisions.settle.error} /> : null}
        <div className="flex justify-end">
          <Button type="submit" look={choice === "run_again" ? "danger" : "primary"} disabled={!ready}>
            Settle
          </Button>
        </div>
      </form>
    </DrawerSection>
  );
}
