import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Card, TitledCard } from "@/components/ui/card";
import { Field, Input } from "@/components/ui/input";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { ErrorState } from "@/components/ui/states";
import { ExplanationCard } from "@/policy/explanation";

import { draftOf } from "./input-draft";
import type { Tool } from "./queries";

/** Why a call would run, ask or be refused: every gate, and the rule that decided. */
export function AccessTab({ tool }: { tool: Tool }) {
  const [principal, setPrincipal] = useState("");
  const [asked, setAsked] = useState("");
  const input = draftOf(tool.id);
  const explained = useQuery({
    queryKey: ["explain", tool.id, asked, input],
    queryFn: () =>
      unwrap(
        api.POST("/api/v1/policy/explain", {
          body: { tool: tool.id, principal: asked || undefined, input: input as never },
        }),
      ),
    retry: false,
  });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_320px]">
      {explained.isPending ? (
        <Card className="p-5">
          <Loading label="Asking every gate">
            {Array.from({ length: 6 }, (_, row) => (
              <Skeleton key={row} className="mb-3 h-9" />
            ))}
          </Loading>
        </Card>
      ) : explained.isError ? (
        <Card>
          <ErrorState error={explained.error} what="It can't be said" onRetry={() => void explained.refetch()} />
        </Card>
      ) : (
        <ExplanationCard explanation={explained.data} />
      )}
      <div className="space-y-4">
        <TitledCard title="Ask for someone else">
          <form
            className="space-y-3"
            onSubmit={(event) => {
              event.preventDefault();
              setAsked(principal.trim());
            }}
          >
            <Field id="principal" label="Who" hint="Such as user:ada@example.com or agent:helper. Empty means you.">
              {(aria) => <Input {...aria} value={principal} onChange={(event) => setPrincipal(event.target.value)} spellCheck={false} />}
            </Field>
            <Button type="submit">Explain</Button>
          </form>
        </TitledCard>
        <TitledCard title="What the tool asks for">
          <ul className="space-y-1 text-sm text-ink-2">
            {tool.permissions.length === 0 ? <li>No access rule of its own.</li> : null}
            {tool.permissions.map((rule) => (
              <li key={rule} className="break-all font-mono text-xs">
                {rule}
              </li>
            ))}
          </ul>
          {input === undefined ? (
            <p className="mt-3 text-xs text-ink-3">Rules that read arguments are asked about what you filled in under Run.</p>
          ) : (
            <p className="mt-3 text-xs text-ink-3">Asked with the input you filled in under Run.</p>
          )}
        </TitledCard>
      </div>
    </div>
  );
}
