import type { Schemas } from "@/api/client";
import { principalName } from "@/lib/format";

import { type Approval, inputOf } from "./queries";

export type Scope = {
  /** Just this input, some of its arguments, or any. */
  arguments: "same" | "within" | "any";
  /** The arguments that must stay as they are, with `within`. */
  fixed: string[];
  /** Only in the session of this call. */
  sessionOnly: boolean;
  seconds: number;
};

export const durations: { seconds: number; words: string }[] = [
  { seconds: 3_600, words: "1 hour" },
  { seconds: 86_400, words: "1 day" },
  { seconds: 7 * 86_400, words: "7 days" },
  { seconds: 30 * 86_400, words: "30 days" },
  { seconds: 90 * 86_400, words: "90 days" },
];

/** The narrowest that is still of use. */
export function firstScope(approval: Approval): Scope {
  return { arguments: "same", fixed: Object.keys(inputOf(approval)), sessionOnly: false, seconds: 86_400 };
}

/** The scope as the server takes it. */
export function rememberOf(approval: Approval, scope: Scope): Schemas["RememberRequest"] {
  const base = { session_only: scope.sessionOnly, expires_in_seconds: scope.seconds };
  if (scope.arguments !== "within") return { ...base, arguments: scope.arguments };
  const input = inputOf(approval);
  const schema: Record<string, unknown> = {
    type: "object",
    required: scope.fixed,
    properties: Object.fromEntries(scope.fixed.map((name) => [name, { const: input[name] }])),
  };
  return { ...base, arguments: "within", schema: schema as Record<string, never> };
}

/** The scope in one sentence. */
export function scopeInWords(approval: Approval, scope: Scope): string {
  const input = inputOf(approval);
  const whose = principalName(approval.actor).name + (approval.subject ? ` for ${principalName(approval.subject).name}` : "");
  const which = {
    same: "with just this input",
    any: "with any input",
    within:
      scope.fixed.length === 0
        ? "with any input"
        : `where ${scope.fixed.map((name) => `${name} is ${JSON.stringify(input[name])}`).join(" and ")}`,
  }[scope.arguments];
  const where = scope.sessionOnly ? " in this session" : "";
  const howLong = durations.find((one) => one.seconds === scope.seconds)?.words ?? `${scope.seconds} seconds`;
  return `For ${howLong}, ${approval.tool_id} runs without asking when ${whose} calls it${where} ${which}.`;
}
