import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Scale } from "lucide-react";
import { lazy, Suspense, useState } from "react";

import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Card, TitledCard } from "@/components/ui/card";
import { LinesField, TextField } from "@/components/ui/fields";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { EmptyState, ErrorState } from "@/components/ui/states";
import { linesOf } from "@/lib/search";
import { principalsQuery } from "@/principals/queries";
import { registryQuery } from "@/registry/queries";

import { ExplanationCard } from "./explanation";

const JsonEditor = lazy(() => import("@/components/ui/json-editor").then((module) => ({ default: module.JsonEditor })));
const route = getRouteApi("/shell/policy");

function parsed(text: string): { value?: Record<string, never>; wrong: boolean } {
  if (text.trim() === "") return { wrong: false };
  try {
    const value: unknown = JSON.parse(text);
    const right = typeof value === "object" && value !== null && !Array.isArray(value);
    return right ? { value: value as Record<string, never>, wrong: false } : { wrong: true };
  } catch {
    return { wrong: true };
  }
}

/** Why a call would run, ask or be refused. Who and what stand in the address: an answer can be passed on. */
export function ExplainTab() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tools = useQuery(registryQuery);
  const principals = useInfiniteQuery(principalsQuery());
  const [tool, setTool] = useState(search.tool ?? "");
  const [principal, setPrincipal] = useState(search.principal ?? "");
  const [subject, setSubject] = useState(search.subject ?? "");
  const [labels, setLabels] = useState("");
  const [input, setInput] = useState("");
  const [more, setMore] = useState<{ input?: Record<string, never>; labels: string[]; round: number }>({ labels: [], round: 0 });
  const explained = useQuery({
    queryKey: ["policy", "explain", search.tool, search.principal, search.subject, more],
    queryFn: () =>
      unwrap(
        api.POST("/api/v1/policy/explain", {
          body: { tool: search.tool!, principal: search.principal, subject: search.subject, labels: more.labels, input: more.input },
        }),
      ),
    enabled: search.tool !== undefined,
    retry: false,
    staleTime: 0,
  });
  const { value, wrong } = parsed(input);
  const ids = principals.data?.pages.flatMap((page) => page.principals.map((one) => one.id));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[360px_minmax(0,1fr)]">
      <TitledCard title="Which call">
        <form
          className="space-y-4"
          onSubmit={(event) => {
            event.preventDefault();
            // A round more, so that the same call can be asked about again.
            setMore({ input: value, labels: linesOf(labels), round: more.round + 1 });
            void navigate({
              search: { tab: "explain", tool: tool.trim() || undefined, principal: principal.trim() || undefined, subject: subject.trim() || undefined },
            });
          }}
        >
          <TextField label="Tool" mono value={tool} onChange={setTool} suggestions={tools.data?.map((one) => one.id) ?? []} />
          <TextField label="Who calls" hint="Empty means you." optional mono value={principal} onChange={setPrincipal} suggestions={ids ?? []} />
          <TextField label="Working for" hint="The person an agent works for." optional mono value={subject} onChange={setSubject} suggestions={ids ?? []} />
          <LinesField label="Labels of the session" optional value={labels} onChange={setLabels} />
          <div>
            <p className="text-sm font-medium">
              Input<span className="ml-1.5 font-normal text-ink-3">optional</span>
            </p>
            <p className="mb-1.5 text-xs text-ink-3">Where rules read arguments.</p>
            <Suspense fallback={<Skeleton className="h-40" />}>
              <JsonEditor value={input} onChange={setInput} label="Input of the call" />
            </Suspense>
            {wrong ? <p className="mt-1 text-xs text-danger-ink">This is no JSON object.</p> : null}
          </div>
          <Button type="submit" look="primary" disabled={tool.trim() === "" || wrong}>
            Explain
          </Button>
        </form>
      </TitledCard>
      {search.tool === undefined ? (
        <Card>
          <EmptyState icon={Scale} title="Name a call">
            Every gate is asked in its order, and the rule that decides is named. Nothing runs.
          </EmptyState>
        </Card>
      ) : explained.isPending ? (
        <Card className="p-5">
          <Loading label="Asking every gate">
            {Array.from({ length: 6 }, (_, row) => (
              <Skeleton key={row} className="mb-3 h-9" />
            ))}
          </Loading>
        </Card>
      ) : explained.isError ? (
        <Card>
          <ErrorState error={explained.error} what="It can’t be said" onRetry={() => void explained.refetch()} />
        </Card>
      ) : (
        <ExplanationCard explanation={explained.data} />
      )}
    </div>
  );
}
