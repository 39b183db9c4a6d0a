import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";

import { signInQuery } from "@/api/queries";
import { initialOf, prepareSchema } from "@/form/prepare";
import { useLiveRun } from "@/runs/live";
import { isOver } from "@/runs/queries";
import { personKey } from "@/tenants/switch-tenant";

import { useCallTool, violationsOf } from "./call";
import { draftOf, inputFromLink, keepDraft } from "./input-draft";
import { InputPanel } from "./input-panel";
import type { Tool } from "./queries";
import { ResultPanel } from "./result-panel";

const route = getRouteApi("/shell/tools/$id");

/** Input left, result right. The run that is shown stands in the address. */
export function RunTab({ tool }: { tool: Tool }) {
  const { call, input: linked } = route.useSearch();
  const navigate = route.useNavigate();
  const signIn = useQuery(signInQuery);
  const run = useLiveRun(call);
  const calling = useCallTool(tool.id);
  const [input, setInput] = useState<unknown>(() => inputFromLink(linked) ?? draftOf(tool.id));
  const initial = useMemo(() => initialOf(prepareSchema(tool.input_schema)), [tool.input_schema]);
  const result = useRef<HTMLDivElement>(null);
  const change = (next: unknown) => {
    setInput(next);
    keepDraft(tool.id, next);
  };

  // A link to a run fills the form with what it was called with, unless something is being written already.
  const filled = useRef(false);
  const shown = run.data;
  useEffect(() => {
    if (filled.current || !shown || shown.tool_id !== tool.id) return;
    filled.current = true;
    if (input === undefined) change(shown.input);
  });

  const start = async (value: unknown) => {
    filled.current = true;
    change(value);
    const answer = await calling.mutateAsync(value).catch(() => null);
    if (!answer) return;
    await navigate({ search: (before) => ({ ...before, call: answer.call_id, input: undefined }), replace: true, resetScroll: false });
    // Where the columns stack, the result is out of sight.
    if (window.innerWidth < 1024) result.current?.scrollIntoView({ block: "start" });
  };

  const failed = shown?.status === "failed" && call === calling.data?.call_id ? shown.error : undefined;
  const violations = useMemo(() => violationsOf(failed ?? calling.error), [failed, calling.error]);
  const busy = calling.isPending || (shown !== undefined && !isOver(shown.status) && shown.status === "running");
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[400px_minmax(0,1fr)]">
      <InputPanel
        tool={tool}
        who={personKey(signIn.data)}
        input={input ?? initial}
        onChange={change}
        onRun={(value) => void start(value)}
        busy={busy}
        violations={violations}
      />
      <div ref={result} className="min-w-0 scroll-mt-20">
        <ResultPanel
          tool={tool}
          call={call}
          run={run}
          calling={calling.isPending}
          refused={calling.error}
          onRerun={(value) => void start(value)}
        />
      </div>
    </div>
  );
}
