import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FlaskConical } from "lucide-react";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { Requester } from "@/approvals/requester";
import { Button } from "@/components/ui/button";
import { ButtonLink } from "@/components/ui/button-link";
import { Card, TitledCard } from "@/components/ui/card";
import { ChoiceField, TextField } from "@/components/ui/fields";
import { personColumn, rowNameLook } from "@/components/ui/listing";
import { RelativeTime } from "@/components/ui/relative-time";
import { VerdictBadge } from "@/components/ui/state-badges";
import { EmptyState, ErrorNote } from "@/components/ui/states";
import { type Column, Table } from "@/components/ui/table";
import { counted, formatCount } from "@/lib/format";

import type { Draft } from "./policy-page";
import type { Trial } from "./queries";

const columns: Column<Trial["changed"][number]>[] = [
  {
    key: "call",
    title: "Call",
    cell: (call) => (
      <Link to="." search={(before: Record<string, unknown>) => ({ ...before, run: call.call_id }) as never} className={rowNameLook}>
        {call.tool}
      </Link>
    ),
  },
  { key: "who", className: personColumn, title: "Who", cell: (call) => <Requester actor={call.actor} /> },
  { key: "before", title: "Now", cell: (call) => <Verdict of={call.before} /> },
  { key: "after", title: "By the draft", cell: (call) => <Verdict of={call.after} /> },
  { key: "at", title: "When", cell: (call) => <RelativeTime at={call.at} className="whitespace-nowrap" /> },
];

function Verdict({ of }: { of: Trial["changed"][number]["before"] }) {
  return (
    <>
      <VerdictBadge verdict={of.verdict} />
      {of.rule ? <span className="mt-0.5 block text-xs text-ink-3">{of.rule}</span> : null}
    </>
  );
}

/** What a draft would have done to calls that were made. */
export function TryTab({ draft }: { draft: Draft | null }) {
  const [limit, setLimit] = useState("200");
  const [tool, setTool] = useState("");
  const [principal, setPrincipal] = useState("");
  const trial = useMutation({
    mutationFn: (text: string) =>
      unwrap(
        api.POST("/api/v1/policy/try", {
          body: { text, limit: Number(limit), tool: tool.trim() || undefined, principal: principal.trim() || undefined },
        }),
      ),
  });
  if (!draft) {
    return (
      <Card>
        <EmptyState
          icon={FlaskConical}
          title="There is no draft"
          action={<ButtonLink to="/policy">Change the text</ButtonLink>}
        >
          Change the text first. Then see here which recorded calls would have come out otherwise; nothing runs and nothing is saved.
        </EmptyState>
      </Card>
    );
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[320px_minmax(0,1fr)]">
      <TitledCard title="Which calls">
        <div className="space-y-4">
          <ChoiceField
            label="The latest"
            value={limit}
            onChange={setLimit}
            options={[
              { value: "50", title: "50" },
              { value: "200", title: "200" },
              { value: "1000", title: "1,000" },
            ]}
          />
          <TextField label="Only of this tool" optional mono value={tool} onChange={setTool} />
          <TextField label="Only by" optional mono value={principal} onChange={setPrincipal} />
          <Button look="primary" disabled={trial.isPending} onClick={() => trial.mutate(draft.text)}>
            <FlaskConical aria-hidden />
            {trial.isPending ? "Trying…" : "Try the draft"}
          </Button>
        </div>
      </TitledCard>
      <div className="min-w-0 space-y-4">
        {trial.isError ? <ErrorNote error={trial.error} /> : null}
        {trial.data ? <Outcome trial={trial.data} /> : null}
      </div>
    </div>
  );
}

function Outcome({ trial }: { trial: Trial }) {
  const figures: [string, number][] = [
    ["Come out the same", trial.same],
    ["Would run now", trial.now_allowed],
    ["Would ask now", trial.now_asked],
    ["Would be refused now", trial.now_denied],
  ];
  return (
    <>
      <Card>
        <dl className="grid grid-cols-2 sm:grid-cols-4 [&>*+*]:border-l [&>*]:border-line">
          {figures.map(([name, value]) => (
            <div key={name} className="px-5 py-3.5">
              <dt className="text-xs text-ink-3">{name}</dt>
              <dd className="mt-0.5 text-xl font-semibold tabular-nums">{formatCount(value)}</dd>
            </div>
          ))}
        </dl>
      </Card>
      <p role="status" className="text-xs text-ink-3">
        {counted(trial.calls, "call")} looked at
        {trial.skipped > 0 ? `; ${trial.skipped} left out, whose tool, caller or input is gone` : ""}.
      </p>
      <Card className="overflow-hidden">
        {trial.changed.length === 0 ? (
          <EmptyState icon={FlaskConical} title="Nothing would come out otherwise">
            Every call that was looked at would be decided as it was.
          </EmptyState>
        ) : (
          <Table label="Calls that would come out otherwise" columns={columns} rows={trial.changed} rowKey={(call) => call.call_id} />
        )}
      </Card>
    </>
  );
}
