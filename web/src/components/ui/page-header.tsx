import type { ReactNode } from "react";
import { useEffect } from "react";

/** The title of a page, what it is for, and its one primary action. Names the browser's tab too. */
export function PageHeader({ title, description, action, tab }: {
  title: ReactNode;
  description?: ReactNode;
  action?: ReactNode;
  /** What the browser's tab says; the title, when that is a text. */
  tab?: string;
}) {
  usePageTitle(tab ?? (typeof title === "string" ? title : ""));
  return (
    <div className="mb-6 flex flex-wrap items-start justify-between gap-4">
      <div className="min-w-0">
        <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
        {description ? <p className="mt-1 max-w-[92ch] text-pretty text-base text-ink-3">{description}</p> : null}
      </div>
      {action}
    </div>
  );
}

/** Names the browser's tab. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Toolgate` : "Toolgate";
  }, [title]);
}
