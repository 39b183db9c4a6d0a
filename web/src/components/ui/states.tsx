import { CloudOff, type LucideIcon, RotateCcw } from "lucide-react";
import type { ReactNode } from "react";

import { asProblem } from "@/api/error";
import { cn } from "@/lib/cn";

import { Button } from "./button";
import { Said } from "./said";

function Framed({ icon: Icon, title, children, className, alert, level = 2 }: {
  icon: LucideIcon;
  title: string;
  children: ReactNode;
  className?: string;
  alert?: boolean;
  level?: 1 | 2;
}) {
  const Title = `h${level}` as const;
  return (
    <div role={alert ? "alert" : undefined} className={cn("flex flex-col items-center px-6 py-14 text-center", className)}>
      <span className="mb-4 flex size-11 items-center justify-center rounded-xl border border-line bg-sunken text-ink-3">
        <Icon aria-hidden className="size-5" />
      </span>
      <Title className="text-lg font-semibold">{title}</Title>
      <div className="mt-1 max-w-[48ch] space-y-4 text-pretty text-sm text-ink-3">{children}</div>
    </div>
  );
}

/** Nothing here yet: what goes here, and the next step. */
export function EmptyState({ icon, title, children, action, className, level }: {
  icon: LucideIcon;
  title: string;
  children: ReactNode;
  action?: ReactNode;
  className?: string;
  /** 1 where it is the whole page. */
  level?: 1 | 2;
}) {
  return (
    <Framed icon={icon} title={title} className={className} level={level}>
      <p>{children}</p>
      {action}
    </Framed>
  );
}

/** What failed, in the server's own words, and a way to try again; where there is no such thing, a way elsewhere. */
export function ErrorState({ error, what, onRetry, elsewhere, className, level }: {
  error: unknown;
  /** What could not be done: `The tools could not be loaded`. */
  what: string;
  onRetry?: () => void;
  /** Where to go when there is no such thing. */
  elsewhere?: ReactNode;
  className?: string;
  /** 1 where it is the whole page. */
  level?: 1 | 2;
}) {
  const problem = asProblem(error);
  return (
    <Framed icon={CloudOff} title={what} className={className} level={level} alert>
      <p>
        <Said text={problem.sentence} /> <Said text={problem.hint} />
      </p>
      {problem.code ? <code className="block font-mono text-xs">{problem.code}</code> : null}
      {problem.status === 404 ? (
        elsewhere
      ) : onRetry ? (
        <Button onClick={onRetry}>
          <RotateCcw aria-hidden />
          Try again
        </Button>
      ) : null}
    </Framed>
  );
}

/** What went wrong, in one line above a form or a list. */
export function ErrorNote({ error, className }: { error: unknown; className?: string }) {
  const problem = asProblem(error);
  return (
    <div role="alert" className={cn("rounded-lg bg-danger-soft px-3 py-2 text-sm text-danger-ink", className)}>
      <Said text={problem.sentence} /> <Said text={problem.hint} />
      {problem.code ? <code className="ml-2 font-mono text-xs">{problem.code}</code> : null}
    </div>
  );
}
