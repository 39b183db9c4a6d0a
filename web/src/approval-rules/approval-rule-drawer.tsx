import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { expecting } from "@/api/pages";
import { DocumentDrawer } from "@/components/ui/document-drawer";
import { ChecksField, LinesField, TextField, wholeNumber } from "@/components/ui/fields";
import { linesOf } from "@/lib/search";
import { effectOptions } from "@/toolsets/toolset-drawer";

import type { ApprovalRule } from "./queries";

const minutes = (seconds: number | null | undefined): string => (seconds ? String(Math.ceil(seconds / 60)) : "");
const wrong = (text: string) => (Number.isNaN(wholeNumber(text)) ? "A whole number above 0." : undefined);

/** Seconds of what was typed in minutes; what was not touched stays to the second. */
function secondsOf(text: string, before: number | null | undefined): number | undefined {
  if (before && text === minutes(before)) return before;
  const whole = wholeNumber(text);
  return whole === undefined ? undefined : whole * 60;
}

/** Writes an approval rule. */
export function ApprovalRuleDrawer({ rule, onClose, again }: { rule: ApprovalRule | null; onClose: () => void; again?: () => void }) {
  const [name, setName] = useState(rule?.name ?? "");
  const [description, setDescription] = useState(rule?.description ?? "");
  const [tools, setTools] = useState(rule?.tools?.join("\n") ?? "");
  const [effects, setEffects] = useState(rule?.effects ?? []);
  const [principals, setPrincipals] = useState(rule?.principals?.join("\n") ?? "");
  const [approvers, setApprovers] = useState(rule?.approvers?.join("\n") ?? "");
  const [needed, setNeeded] = useState(String(rule?.needed ?? 1));
  const [passOn, setPassOn] = useState(minutes(rule?.escalate_after_seconds));
  const [passTo, setPassTo] = useState(rule?.escalate_to?.join("\n") ?? "");
  const [ends, setEnds] = useState(minutes(rule?.expires_after_seconds));
  const path = { name };
  return (
    <DocumentDrawer
      title={rule ? <span className="break-all font-mono text-lg">{rule.name}</span> : "New approval rule"}
      description="Calls that wait already keep the terms they began to wait with."
      seen={rule}
      again={again}
      ready={name.trim() !== "" && [needed, passOn, ends].every((text) => !wrong(text)) && needed.trim() !== ""}
      queryKey={["approval-rules"]}
      onClose={onClose}
      save={() =>
        unwrap(
          api.PUT("/api/v1/approval-rules/{name}", {
            params: { path, header: expecting(rule?.revision) },
            body: {
              description,
              tools: linesOf(tools),
              effects,
              principals: linesOf(principals),
              approvers: linesOf(approvers),
              needed: wholeNumber(needed),
              escalate_after_seconds: secondsOf(passOn, rule?.escalate_after_seconds),
              escalate_to: linesOf(passTo),
              expires_after_seconds: secondsOf(ends, rule?.expires_after_seconds),
            },
          }),
        )
      }
      remove={
        rule ? () => unwrap(api.DELETE("/api/v1/approval-rules/{name}", { params: { path, header: expecting(rule.revision) } })) : undefined
      }
    >
      {rule ? null : <TextField label="Name" hint="Lower-case letters, digits and dashes." value={name} onChange={setName} maxLength={64} mono />}
      <TextField label="What it is for" optional value={description} onChange={setDescription} maxLength={500} />
      <LinesField label="Calls of these tools" hint="Ids, or the start of ids and *. Empty means all." optional value={tools} onChange={setTools} />
      <ChecksField label="Only tools that" hint="None chosen means all." chosen={effects} onChange={setEffects} options={effectOptions} />
      <LinesField label="Made by" hint="Such as agent:*. Empty means anyone." optional value={principals} onChange={setPrincipals} />
      <LinesField label="Roles that decide" hint="Empty means whoever policy lets." optional value={approvers} onChange={setApprovers} />
      <TextField label="How many people must say yes" inputMode="numeric" value={needed} onChange={setNeeded} error={wrong(needed)} />
      <div className="grid gap-5 sm:grid-cols-2">
        <TextField label="Passed on after minutes" optional inputMode="numeric" value={passOn} onChange={setPassOn} error={wrong(passOn)} />
        <TextField label="Ends after minutes" optional inputMode="numeric" value={ends} onChange={setEnds} error={wrong(ends)} />
      </div>
      <LinesField label="Passed on to these roles" hint="Empty means whoever policy lets." optional value={passTo} onChange={setPassTo} />
    </DocumentDrawer>
  );
}
