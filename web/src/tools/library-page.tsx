import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ArrowDownUp, PackageOpen, SearchX } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useDeferredValue, useEffect, useMemo, useRef } from "react";

import { Button } from "@/components/ui/button";
import { FilterMenu, menuItemLook, menuLook } from "@/components/ui/filter-menu";
import { SearchInput } from "@/components/ui/input";
import { PageHeader } from "@/components/ui/page-header";
import { Loading, Skeleton } from "@/components/ui/skeleton";
import { effectWords, originOf } from "@/components/ui/state-badges";
import { EmptyState, ErrorState } from "@/components/ui/states";
import { FirstRun, useFirstRun } from "@/first-run/first-run";
import { cn } from "@/lib/cn";
import { counted, humanWord } from "@/lib/format";
import { useTyped } from "@/lib/typed";

import { type ToolSummary, toolsQuery } from "./queries";
import type { LibrarySearch } from "./routes";
import { readAhead, searchTools } from "./search";
import { statsByTool, type ToolStats, usageQuery } from "./stats";
import { ToolGrid } from "./tool-grid";

const route = getRouteApi("/shell/");
const CHIPS = 10;
const byTitle = new Intl.Collator("en");
const sorts = { used: "Most used", name: "By name", recent: "Last used" } as const;

/** Every tool I may call. */
export function LibraryPage() {
  const tools = useQuery(toolsQuery);
  const usage = useQuery(usageQuery());
  const stats = useMemo(() => statsByTool(usage.data ?? []), [usage.data]);
  const firstRun = useFirstRun();
  // Tools stand in the order of their use, below what a new install begins with: all of it is drawn at once, and nothing
  // jumps away from under a hand.
  const pending = tools.isPending || usage.isPending || firstRun.pending;
  return (
    <>
      <PageHeader title="Tools" description="Everything you and your agents can run here." />
      {pending ? null : <FirstRun {...firstRun} />}
      {pending ? (
        <LoadingCards />
      ) : tools.isError ? (
        <ErrorState error={tools.error} what="The tools could not be loaded" onRetry={() => void tools.refetch()} />
      ) : tools.data.length === 0 ? (
        <EmptyState icon={PackageOpen} title="There are no tools for you yet">
          Ask whoever manages access here to let you use some. What you may call appears at once.
        </EmptyState>
      ) : (
        <Library tools={tools.data} stats={stats} />
      )}
    </>
  );
}

function Library({ tools, stats }: { tools: ToolSummary[]; stats: Map<string, ToolStats> }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<LibrarySearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false });
  // What is typed is shown at once; the list and the address follow.
  const [text, setText] = useTyped(search.q ?? "", (q) => change({ q: q || undefined }));
  const wanted = useDeferredValue(text);
  useEffect(() => readAhead(tools), [tools]);
  const field = useRef<HTMLInputElement>(null);
  useSlash(field);

  const effects = listed(search.effect);
  const origins = listed(search.origin);
  const narrowed = useMemo(
    () =>
      searchTools(tools, wanted).filter(
        (tool) =>
          (effects.length === 0 || effects.includes(tool.effect)) &&
          (origins.length === 0 || origins.includes(originOf(tool.id).key)),
      ),
    [tools, wanted, search.effect, search.origin],
  );
  const categories = useMemo(() => counts(narrowed, (tool) => tool.category), [narrowed]);
  const sort = search.sort ?? "used";
  const shown = useMemo(() => {
    const kept = search.category ? narrowed.filter((tool) => tool.category === search.category) : narrowed;
    // What was searched for is already in order of how well it fits.
    return wanted.trim() !== "" && !search.sort ? kept : [...kept].sort(order(sort, stats));
  }, [narrowed, search.category, sort, search.sort, stats, wanted]);
  const chips = categories.slice(0, CHIPS);
  const chosen = categories.find(([name]) => name === search.category);
  if (chosen && !chips.includes(chosen)) chips.push(chosen);

  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <SearchInput
          ref={field}
          label="Search tools"
          placeholder="Search by name, id or purpose"
          shortcut="/"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => (event.key === "Escape" ? setText("") : undefined)}
          className="w-full max-w-[384px]"
        />
        <FilterMenu
          title="Effect"
          chosen={effects}
          onChange={(next) => change({ effect: next.join(",") || undefined })}
          options={counts(tools, (tool) => tool.effect).map(([value, count]) => ({
            value,
            count,
            title: effectWords[value] ?? value,
          }))}
        />
        <FilterMenu
          title="Origin"
          chosen={origins}
          onChange={(next) => change({ origin: next.join(",") || undefined })}
          options={counts(tools, (tool) => originOf(tool.id).key).map(([value, count]) => ({
            value,
            count,
            title: originOf(value).word,
          }))}
        />
        <SortMenu value={sort} onChange={(next) => change({ sort: next === "used" ? undefined : next })} />
      </div>
      <div role="group" aria-label="Category" className="mt-4 flex flex-wrap gap-1.5">
        <Chip title="All" count={narrowed.length} active={!search.category} onClick={() => change({ category: undefined })} />
        {chips.map(([name, count]) => (
          <Chip
            key={name}
            title={humanWord(name)}
            count={count}
            active={search.category === name}
            onClick={() => change({ category: search.category === name ? undefined : name })}
          />
        ))}
      </div>
      <p className="sr-only" role="status">
        {counted(shown.length, "tool")} shown
      </p>
      {shown.length === 0 ? (
        <EmptyState
          icon={SearchX}
          title="No tool fits"
          action={
            <Button
              onClick={() => {
                setText("");
                void navigate({ search: {}, replace: true });
              }}
            >
              Show all tools
            </Button>
          }
        >
          Try another word, or take a filter away.
        </EmptyState>
      ) : (
        <ToolGrid tools={shown} stats={stats} />
      )}
    </>
  );
}

/** `/` leads to the search field, unless something is being typed. */
function useSlash(field: React.RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key !== "/" || event.ctrlKey || event.metaKey || target.closest("input, textarea, select, [contenteditable]"))
        return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [field]);
}

function Chip({ title, count, active, onClick }: { title: string; count: number; active: boolean; onClick: () => void }) {
  return (
    <button
      type="button"
      aria-pressed={active}
      onClick={onClick}
      className={cn(
        "inline-flex h-7 items-center gap-1.5 rounded-full border border-line bg-surface px-3 text-sm font-medium text-ink-2 transition-colors hover:border-line-strong hover:text-ink",
        active && "border-ink bg-ink text-surface hover:border-ink hover:text-surface",
      )}
    >
      {title}
      <span className={cn("text-xs tabular-nums", active ? "text-surface" : "text-ink-3")}>{count}</span>
    </button>
  );
}

function SortMenu({ value, onChange }: { value: keyof typeof sorts; onChange: (next: keyof typeof sorts) => void }) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button look="quiet" className="ml-auto max-sm:ml-0">
          <ArrowDownUp aria-hidden />
          {sorts[value]}
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="end" sideOffset={6} className={menuLook}>
          <DropdownMenu.RadioGroup value={value} onValueChange={(next) => onChange(next as keyof typeof sorts)}>
            {Object.entries(sorts).map(([key, title]) => (
              <DropdownMenu.RadioItem key={key} value={key} className={`${menuItemLook} data-[state=checked]:text-accent-ink`}>
                {title}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function LoadingCards() {
  return (
    <Loading label="Loading the tools">
      <Skeleton className="h-9 w-96 max-w-full rounded-lg" />
      <div className="mt-4 flex gap-1.5">
        {[56, 88, 72].map((width) => (
          <div key={width} style={{ width }}>
            <Skeleton className="h-7 rounded-full" />
          </div>
        ))}
      </div>
      <div className="mt-6 grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
        {Array.from({ length: 9 }, (_, card) => (
          <div key={card} className="h-[218px] rounded-xl border border-line bg-surface p-5">
            <div className="flex gap-3">
              <Skeleton className="size-10 rounded-lg" />
              <div className="flex-1 space-y-2 pt-1">
                <Skeleton className="h-4 w-2/3" />
                <Skeleton className="h-3 w-1/2" />
              </div>
            </div>
            <Skeleton className="mt-4 h-10" />
            <Skeleton className="mt-4 h-5 w-32" />
          </div>
        ))}
      </div>
    </Loading>
  );
}

const listed = (text: string | undefined): string[] => (text ? text.split(",") : []);

function counts<T>(items: readonly T[], of: (item: T) => string): [string, number][] {
  const found = new Map<string, number>();
  for (const item of items) found.set(of(item), (found.get(of(item)) ?? 0) + 1);
  return [...found].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0], "en"));
}

function order(sort: keyof typeof sorts, stats: Map<string, ToolStats>) {
  const byName = (a: ToolSummary, b: ToolSummary) => byTitle.compare(a.title, b.title);
  const calls = (tool: ToolSummary) => stats.get(tool.id)?.calls ?? 0;
  const last = (tool: ToolSummary) => stats.get(tool.id)?.lastAt ?? "";
  switch (sort) {
    case "name":
      return byName;
    case "recent":
      return (a: ToolSummary, b: ToolSummary) => (last(b) < last(a) ? -1 : last(b) > last(a) ? 1 : byName(a, b));
    case "used":
      return (a: ToolSummary, b: ToolSummary) => calls(b) - calls(a) || byName(a, b);
  }
}
