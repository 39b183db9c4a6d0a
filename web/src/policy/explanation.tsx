import { sentence } from "@/api/error";
import { Card } from "@/components/ui/card";
import { Said } from "@/components/ui/said";
import { VerdictBadge } from "@/components/ui/state-badges";
import { humanWord, principalName } from "@/lib/format";

import type { Explanation } from "./queries";

/** The verdict, the rule that decided, and every gate in its order. */
export function ExplanationCard({ explanation }: { explanation: Explanation }) {
  return (
    <Card>
      <div className="border-b border-line px-5 py-4">
        <p className="flex flex-wrap items-center gap-2 text-sm">
          <span className="font-semibold">{principalName(explanation.principal).name}</span>
          <VerdictBadge verdict={explanation.verdict} />
          <code className="break-all font-mono text-xs">{explanation.tool}</code>
        </p>
        {explanation.rule ? (
          <p className="mt-1 text-sm text-ink-3">
            decided by <span className="font-medium text-ink-2">{explanation.rule}</span>
          </p>
        ) : null}
      </div>
      <ol className="divide-y divide-line">
        {explanation.steps.map((step, index) => (
          <li key={index} className="grid gap-x-4 gap-y-1 px-5 py-3 text-sm sm:grid-cols-[140px_132px_minmax(0,1fr)]">
            <span className="font-medium">{humanWord(step.gate)}</span>
            <span>
              <VerdictBadge verdict={step.verdict} />
            </span>
            <span className="min-w-0 break-words text-ink-2">
              <Said text={sentence(step.reason)} />
              {step.rule ? <span className="block text-xs text-ink-3">{step.rule}</span> : null}
              {step.hint ? <span className="block text-xs text-ink-3"><Said text={sentence(step.hint)} /></span> : null}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}
