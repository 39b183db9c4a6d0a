import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CircleX, TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";

import { api, unwrap } from "@/api/client";
import { ApiProblem, sentence } from "@/api/error";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ConfirmButton } from "@/components/ui/confirm-button";
import { WriteError } from "@/components/ui/document-drawer";
import { TextField } from "@/components/ui/fields";
import { RelativeTime } from "@/components/ui/relative-time";
import { ErrorNote } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { counted, principalName } from "@/lib/format";
import { visible } from "@/lib/visible";
import { DiffText } from "@/upstreams/words";

import { CedarEditor, type Jump } from "./cedar-editor";
import type { Draft } from "./policy-page";
import { type Policy, policyCheckQuery, policyDiffQuery, type PolicyProblem, policyQuery, policySchemaQuery } from "./queries";

const NONE: PolicyProblem[] = [];

/** The text to write. It is checked as it is written, and saved from the version it was made from. */
export function EditorTab({ draft, touched, onDraft }: { draft: Draft; touched: boolean; onDraft: (draft: Draft | null) => void }) {
  const client = useQueryClient();
  const [note, setNote] = useState("");
  const [jump, setJump] = useState<Jump | null>(null);
  const [theirs, setTheirs] = useState<Policy | null>(null);
  const [settled, setSettled] = useState(draft.text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(draft.text), 400);
    return () => clearTimeout(timer);
  }, [draft.text]);
  const check = useQuery(policyCheckQuery(settled));
  const current = settled === draft.text ? check.data : undefined;
  const save = useMutation({
    mutationFn: () => unwrap(api.PUT("/api/v1/policy", { body: { text: draft.text, note: note.trim(), version: draft.from.version } })),
    onSuccess: (saved) => {
      toast(`Saved as version ${saved.version}. It is in force.`);
      setNote("");
      client.setQueryData(policyQuery.queryKey, saved);
      onDraft(null);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["policy"] }),
  });
  const changed = touched && draft.text !== draft.from.text;
  const { from } = draft;
  // The server says the same again on saving, with the same places.
  const refused = save.error instanceof ApiProblem && save.error.code === "policy_invalid";
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_320px]">
      <div className="min-w-0 space-y-3">
        {save.isError && !refused ? (
          <WriteError
            error={save.error}
            again={() => {
              save.reset();
              void client.fetchQuery({ ...policyQuery, staleTime: 0 }).then(setTheirs);
            }}
          />
        ) : null}
        {theirs ? (
          <Theirs
            from={from.version}
            now={theirs}
            onMine={() => {
              onDraft({ text: draft.text, from: theirs });
              setTheirs(null);
            }}
            onTheirs={() => {
              onDraft(null);
              setTheirs(null);
            }}
          />
        ) : null}
        <CedarEditor
          value={draft.text}
          onChange={(text) => onDraft({ text, from })}
          problems={current?.problems ?? NONE}
          warnings={current?.warnings ?? NONE}
          jump={jump}
        />
        {check.isError ? <ErrorNote error={check.error} /> : null}
        <Problems title="Keeps it from being saved" problems={current?.problems ?? NONE} tone="danger" onJump={setJump} />
        <Problems title="Odd" problems={current?.warnings ?? NONE} tone="warn" onJump={setJump} />
      </div>
      <Card className="space-y-4 p-5">
        <div role="status" className="text-sm">
          {check.isFetching || settled !== draft.text ? (
            <span className="text-ink-3">Checking…</span>
          ) : current?.ok ? (
            <Badge tone="ok" icon={CircleCheck}>
              It could be saved
            </Badge>
          ) : current ? (
            <Badge tone="danger" icon={CircleX}>
              {counted(current.problems.length, "problem")}
            </Badge>
          ) : null}
        </div>
        <p className="text-sm text-ink-2">
          {from.version === 0 ? "The policies every tenant starts with." : `Made from version ${from.version}`}
          {from.saved_by && from.saved_at ? (
            <>
              , saved by {principalName(from.saved_by).name} <RelativeTime at={from.saved_at} />
            </>
          ) : null}
        </p>
        <TextField label="Why" hint="For those who read the versions." optional value={note} onChange={setNote} maxLength={500} />
        <div className="flex flex-wrap gap-2">
          <Button look="primary" disabled={!changed || !current?.ok || save.isPending} onClick={() => save.mutate()}>
            {save.isPending ? "Saving…" : "Save and bring into force"}
          </Button>
          {changed ? <ConfirmButton title="Drop my changes…" sure="Yes, drop them" onSure={() => onDraft(null)} /> : null}
        </div>
        <p className="text-xs text-ink-3">It holds from the next call on, on every node within a second. Try a draft on recorded calls first.</p>
        <Vocabulary />
      </Card>
    </div>
  );
}

/** What rules can speak of: the schema they are checked against. */
function Vocabulary() {
  const [open, setOpen] = useState(false);
  const schema = useQuery({ ...policySchemaQuery, enabled: open });
  return (
    <details className="text-sm" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="min-h-6 text-accent-ink">What rules can speak of</summary>
      {schema.isError ? (
        <ErrorNote error={schema.error} className="mt-2" />
      ) : (
        <pre tabIndex={0} role="region" aria-label="Cedar schema" className="mt-2 max-h-80 overflow-auto whitespace-pre-wrap break-words rounded-lg border border-line bg-sunken p-3 font-mono text-2xs">
          {schema.data ?? "Loading…"}
        </pre>
      )}
    </details>
  );
}

/** What someone else saved meanwhile, and whose text goes on. */
function Theirs({ from, now, onMine, onTheirs }: { from: number; now: Policy; onMine: () => void; onTheirs: () => void }) {
  const diff = useQuery(policyDiffQuery(from, now.version));
  return (
    <section aria-label="What was saved meanwhile" className="space-y-3 rounded-xl border border-line bg-surface p-4">
      <h2 className="text-sm font-semibold">
        {now.saved_by ? principalName(now.saved_by).name : "Someone"} saved version {now.version} meanwhile
      </h2>
      {diff.isError ? <ErrorNote error={diff.error} /> : <DiffText text={visible(diff.data ?? "…")} label="What they changed" />}
      <div className="flex flex-wrap gap-2">
        <Button onClick={onTheirs}>Take theirs, drop mine</Button>
        <Button look="quiet" onClick={onMine}>
          Go on with mine, over theirs
        </Button>
      </div>
    </section>
  );
}

function Problems({ title, problems, tone, onJump }: {
  title: string;
  problems: readonly PolicyProblem[];
  tone: "danger" | "warn";
  onJump: (jump: Jump) => void;
}) {
  if (problems.length === 0) return null;
  const Icon = tone === "danger" ? CircleX : TriangleAlert;
  return (
    <section aria-label={title} className={tone === "danger" ? "rounded-lg bg-danger-soft p-3 text-danger-ink" : "rounded-lg bg-warn-soft p-3 text-warn-ink"}>
      <h2 className="mb-1 text-sm font-semibold">{title}</h2>
      <ul className="space-y-1 text-sm">
        {problems.map((problem, index) => (
          <li key={index} className="flex gap-2">
            <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
            <span className="min-w-0 break-words">
              <button
                type="button"
                className="min-h-6 font-mono text-xs underline"
                onClick={() => onJump({ line: problem.line, column: problem.column })}
              >
                Line {problem.line}, column {problem.column}
              </button>{" "}
              {problem.policy ? <span className="font-medium">{problem.policy}: </span> : null}
              {sentence(problem.message)} {problem.hint ? sentence(problem.hint) : ""}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
