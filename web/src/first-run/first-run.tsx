import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Calculator, Check, Plug, ShieldCheck, X, type LucideIcon } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";

import { meQuery, useHolds } from "@/api/queries";
import { Button } from "@/components/ui/button";
import { ButtonLink } from "@/components/ui/button-link";
import { Card } from "@/components/ui/card";
import { ErrorNote } from "@/components/ui/states";
import { cn } from "@/lib/cn";
import { pages } from "@/shell/pages";
import { usageQuery } from "@/tools/stats";

import { CALCULATOR, connectedQuery, decidedSomethingQuery, makeCallThatWaits, ranSomething } from "./steps";

/** `shown` once it was needed, `over` once it was put away. */
const KEY = "toolgate.first-run";

function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return "over";
  }
}

function keep(state: "shown" | "over"): void {
  try {
    localStorage.setItem(KEY, state);
  } catch {
    // A browser that keeps nothing shows it again.
  }
}

/** Whether the first run is to be shown, what of it is done, and the way to put it away. `pending` while nobody knows. */
export function useFirstRun() {
  const me = useQuery(meQuery);
  const manages = useHolds("*");
  const [state, setState] = useState(kept);
  const on = manages && state !== "over";
  const usage = useQuery({ ...usageQuery(), enabled: on });
  const connected = useQuery({ ...connectedQuery, enabled: on });
  const decided = useInfiniteQuery({ ...decidedSomethingQuery, enabled: on });
  const done = {
    run: ranSomething(usage.data ?? []),
    connect: connected.data === true,
    approve: (decided.data?.pages[0]?.items.length ?? 0) > 0,
  };
  const count = Object.values(done).filter(Boolean).length;
  const known = [usage, connected, decided].every((query) => !query.isPending);
  const pending = state !== "over" && (me.isPending || (on && !known));
  // A gate that is long in use needs no first run.
  const shown = on && known && (count < 3 || state === "shown");
  useEffect(() => {
    if (shown && kept() === null) {
      keep("shown");
      setState("shown");
    }
  }, [shown]);
  const dismiss = () => {
    keep("over");
    setState("over");
  };
  return { pending, shown, done, count, dismiss };
}

/**
 * Three steps from an empty install to the first approval. For whoever manages everything, until they are done or put
 * away; each notices by itself that it is done.
 */
export function FirstRun({ shown, done, count, dismiss }: ReturnType<typeof useFirstRun>) {
  if (!shown) return null;
  return (
    <Card className="relative mb-8 p-5" role="region" aria-labelledby="first-run">
      <div className="flex items-baseline gap-3 pr-10">
        <h2 id="first-run" className="text-base font-semibold">
          {count === 3 ? "You are set up" : "Three minutes to begin"}
        </h2>
        <span className="text-xs text-ink-3">{count} of 3 done</span>
      </div>
      <Button look="quiet" size="icon-sm" aria-label="Put away" className="absolute right-3 top-3" onClick={dismiss}>
        <X aria-hidden />
      </Button>
      <ol className="mt-4 grid gap-4 md:grid-cols-3">
        <Step icon={Calculator} title="Run a calculator" done={done.run} words="Fill in a form and see the result. Nothing is changed.">
          <ButtonLink to="/tools/$id" params={{ id: CALCULATOR }} size="sm">Calculate a return</ButtonLink>
        </Step>
        <Step
          icon={Plug}
          title="Connect an MCP server"
          done={done.connect}
          words="Its tools stay off until you have reviewed them, one by one."
        >
          <Connect />
        </Step>
        <Step
          icon={ShieldCheck}
          title="Approve a call"
          done={done.approve}
          words="The clock asks you before it tells the time, this once. Look, then decide."
        >
          <Try />
        </Step>
      </ol>
    </Card>
  );
}

function Connect() {
  const page = pages.find((one) => (one.to as string) === "/upstreams");
  return page ? (
    <ButtonLink to={page.to} size="sm">Add a server</ButtonLink>
  ) : (
    <p className="text-xs text-ink-3">
      <code className="font-mono">toolgate upstream add</code>
    </p>
  );
}

function Try() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const make = useMutation({
    mutationFn: makeCallThatWaits,
    onSuccess: (id) => {
      void client.invalidateQueries({ queryKey: ["inbox", "list"] });
      void navigate({ to: "/approvals", search: { id } });
    },
  });
  return (
    <>
      <Button size="sm" disabled={make.isPending} onClick={() => make.mutate()}>
        Make it ask
      </Button>
      {make.isError ? <ErrorNote error={make.error} className="mt-2" /> : null}
    </>
  );
}

function Step({ icon: Icon, title, words, done, children }: {
  icon: LucideIcon;
  title: string;
  words: string;
  done: boolean;
  children: ReactNode;
}) {
  const Shown = done ? Check : Icon;
  return (
    <li className="flex gap-3">
      <span
        aria-hidden
        className={cn(
          "flex size-8 shrink-0 items-center justify-center rounded-full [&_svg]:size-4",
          done ? "bg-ok-soft text-ok-ink" : "bg-accent-soft text-accent-ink",
        )}
      >
        <Shown />
      </span>
      <div className="min-w-0">
        <h3 className="text-sm font-medium">
          {title}
          {done ? <span className="sr-only">, done</span> : null}
        </h3>
        <p className="mb-2.5 text-xs text-ink-3">{words}</p>
        {done ? null : children}
      </div>
    </li>
  );
}
