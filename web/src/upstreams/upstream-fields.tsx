import type { Schemas } from "@/api/client";
import { ChoiceField, LinesField, TextField, wholeNumber } from "@/components/ui/fields";

import type { Upstream } from "./queries";

/** What the form has of a server. */
export type Draft = {
  title: string;
  kind: "http" | "stdio";
  url: string;
  command: string;
  args: string;
  auth: string;
  questions: string;
  atOnce: string;
};

const MOST_AT_ONCE = 256;

export function draftOf(upstream: Upstream | null): Draft {
  const transport = upstream?.transport ?? { kind: "http", url: "" };
  const program = transport.kind === "stdio" ? transport : null;
  return {
    title: upstream?.title ?? "",
    kind: transport.kind,
    url: transport.kind === "http" ? transport.url : "",
    command: program?.command ?? "",
    args: program?.args?.join("\n") ?? "",
    auth: upstream?.auth ?? "none",
    questions: upstream?.questions ?? "refuse",
    atOnce: String(upstream?.concurrency ?? 16),
  };
}

/** What is written of a server; what the form does not show stays as it was. */
export function requestOf(draft: Draft, before: Upstream | null): Schemas["PutUpstreamRequest"] {
  return {
    title: draft.title,
    transport: transportOf(draft, before?.transport),
    enabled: before?.enabled ?? true,
    auth: draft.auth,
    connect_timeout_ms: before?.connect_timeout_ms ?? 30_000,
    concurrency: wholeNumber(draft.atOnce) ?? 16,
    questions: draft.questions,
  };
}

function transportOf(draft: Draft, before: Schemas["TransportView"] | undefined): Schemas["TransportView"] {
  if (draft.kind === "http") return { kind: "http", url: draft.url.trim(), headers: before?.kind === "http" ? before.headers : {} };
  const known = before?.kind === "stdio" ? before : null;
  const lines = draft.args.replace(/\n+$/, "");
  // An argument may hold what lines can't show: those that nobody touched are handed back as they came.
  const args = known?.args && known.args.join("\n") === draft.args ? known.args : lines === "" ? [] : lines.split("\n");
  return { kind: "stdio", command: draft.command.trim(), args, env: known?.env ?? {} };
}

export function isWhole(draft: Draft): boolean {
  return (draft.kind === "http" ? draft.url : draft.command).trim() !== "" && fitsAtOnce(draft.atOnce);
}

function fitsAtOnce(text: string): boolean {
  const number = wholeNumber(text);
  return number === undefined || number <= MOST_AT_ONCE;
}

/** All there is to say about a server but its name. */
export function UpstreamFields({ draft, change }: { draft: Draft; change: (next: Partial<Draft>) => void }) {
  return (
    <>
      <TextField label="What people call it" optional value={draft.title} onChange={(title) => change({ title })} maxLength={120} />
      <ChoiceField
        label="How it is reached"
        value={draft.kind}
        onChange={(kind) => change({ kind: kind as Draft["kind"] })}
        options={[
          { value: "http", title: "By its address" },
          { value: "stdio", title: "As a program" },
        ]}
      />
      {draft.kind === "http" ? (
        <TextField
          label="Address"
          hint="Of its streamable HTTP endpoint, or of its stream of events where it is older."
          type="url"
          placeholder="https://mcp.example.com/mcp"
          value={draft.url}
          onChange={(url) => change({ url })}
          mono
        />
      ) : (
        <>
          <TextField label="Program" hint="A program in the gate’s path, or a full path." value={draft.command} onChange={(command) => change({ command })} mono />
          <LinesField label="Arguments" hint="One on each line. ${NAME} stands for a variable of its connection." optional value={draft.args} onChange={(args) => change({ args })} />
        </>
      )}
      <ChoiceField
        label="Whose account it uses"
        hint="The caller’s own key or token is never passed on."
        value={draft.auth}
        onChange={(auth) => change({ auth })}
        options={[
          { value: "none", title: "None" },
          { value: "shared", title: "One for all" },
          { value: "per_user", title: "Each person’s own" },
        ]}
      />
      <ChoiceField
        label="When it asks something in the middle of a call"
        hint="Its words are shown as its own. Forms that are after passwords or tokens are always refused."
        value={draft.questions}
        onChange={(questions) => change({ questions })}
        options={[
          { value: "refuse", title: "Refuse it" },
          { value: "ask", title: "Ask the person who calls" },
        ]}
      />
      <TextField
        label="Calls at once"
        hint={`At most so many on each node; further ones wait. Up to ${MOST_AT_ONCE}.`}
        inputMode="numeric"
        value={draft.atOnce}
        onChange={(atOnce) => change({ atOnce })}
        error={fitsAtOnce(draft.atOnce) ? undefined : `A whole number from 1 to ${MOST_AT_ONCE}`}
      />
    </>
  );
}
