import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { CircleHelp, Gavel, Inbox, Users } from "lucide-react";
import { useEffect, useMemo, useState } from "react";

import { Button } from "@/components/ui/button";
import { ButtonLink } from "@/components/ui/button-link";
import { Card } from "@/components/ui/card";
import { Kbd } from "@/components/ui/input";
import { PageHeader } from "@/components/ui/page-header";
import { LoadingRows } from "@/components/ui/skeleton";
import { EmptyState, ErrorState } from "@/components/ui/states";
import { TabPanel, Tabs } from "@/components/ui/tabs";
import { toolsQuery } from "@/tools/queries";

import { ApprovalDrawer, isTyping } from "./approval-drawer";
import { ApprovalRow } from "./approval-row";
import { BatchBar, goTogether, isShown } from "./batch-bar";
import { Chores, choresOf } from "./chores";
import { type Approval, decidedQuery, inboxQuery, isWaiting } from "./queries";
import type { ApprovalTab } from "./routes";

const route = getRouteApi("/shell/approvals");
/** The server sends so many at most. */
const MOST = 200;

const empty: Record<ApprovalTab, { icon: typeof Inbox; title: string; words: string }> = {
  mine: {
    icon: Inbox,
    title: "Nothing waits for you",
    words: "When something you started, or an agent of yours, needs a person’s word, it appears here by itself.",
  },
  group: { icon: Users, title: "Nothing waits for your groups", words: "Calls that you may decide on for others appear here." },
  decided: { icon: Gavel, title: "You have not decided anything yet", words: "What you approve or deny is kept here." },
  in_doubt: {
    icon: CircleHelp,
    title: "Nothing is in doubt",
    words: "A write whose outcome was lost, by a crash or a time-out, waits here until a person says what became of it.",
  },
};

/** What waits for a person, and what they decided. */
export function ApprovalsPage() {
  const { tab = "mine", id } = route.useSearch();
  const navigate = route.useNavigate();
  const mine = useQuery(inboxQuery("mine"));
  const group = useQuery(inboxQuery("group"));
  const decided = useInfiniteQuery(decidedQuery);
  const boxes = useMemo(() => {
    const own = mine.data?.items ?? [];
    const others = group.data?.items ?? [];
    return {
      mine: own.filter(isWaiting),
      group: others.filter(isWaiting),
      in_doubt: [...own, ...others].filter((one) => one.status === "in_doubt"),
      decided: decided.data?.pages.flatMap((page) => page.items) ?? [],
    };
  }, [mine.data, group.data, decided.data]);
  const shown = boxes[tab];
  const asked = { mine: [mine], group: [group], in_doubt: [mine, group], decided: [decided] }[tab];
  const failed = asked.find((query) => query.isError);
  const pending = asked.some((query) => query.isPending);
  const open = (next: string | undefined) => void navigate({ search: (before) => ({ ...before, id: next }) });
  const around = useAround(shown, id);
  useListKeys(id === undefined);

  const waiting = mine.data && group.data ? [mine.data.items, group.data.items] : undefined;
  const full = waiting?.some((items) => items.length >= MOST);
  const mayDecide = waiting && (full || waiting.flat().some((one) => one.id === id));
  const chores = mine.data ? choresOf(mine.data) : [];
  return (
    <>
      <PageHeader
        title="Approvals"
        description="Calls that stopped to ask a person. A call that nobody answers in time does not run."
      />
      <Tabs
        label="Parts of the inbox"
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next === "mine" ? undefined : (next as ApprovalTab) } })}
        tabs={[
          { value: "mine", title: "Waiting for you", count: count(boxes.mine.length + chores.length, boxes.mine.length >= MOST) },
          { value: "group", title: "For your groups", count: count(boxes.group.length) },
          { value: "decided", title: "Decided", count: count(boxes.decided.length, decided.hasNextPage) },
          { value: "in_doubt", title: "In doubt", count: count(boxes.in_doubt.length) },
        ]}
      >
        <TabPanel value={tab}>
          {tab === "mine" && chores.length > 0 ? <Chores chores={chores} /> : null}
          {/* Drawn anew when the list is here: what may come to stand above it pushes nothing away. */}
          <Card key={pending ? "coming" : "here"} className="overflow-hidden">
            {pending ? (
              <LoadingRows label="Loading the inbox" rows={4} />
            ) : failed ? (
              <ErrorState error={failed.error} what="The inbox could not be loaded" onRetry={() => void failed.refetch()} />
            ) : shown.length === 0 ? (
              <EmptyState
                icon={empty[tab].icon}
                title={tab === "mine" && chores.length > 0 ? "No call waits for you" : empty[tab].title}
                action={
                  tab === "mine" && boxes.group.length > 0 ? (
                    <ButtonLink to="/approvals" search={{ tab: "group" }}>See what waits for your groups</ButtonLink>
                  ) : undefined
                }
              >
                {empty[tab].words}
              </EmptyState>
            ) : (
              <List key={tab} approvals={shown} batch={tab === "mine" || tab === "group"} />
            )}
          </Card>
          {tab === "decided" && decided.hasNextPage ? (
            <Button className="mt-4" disabled={decided.isFetchingNextPage} onClick={() => void decided.fetchNextPage()}>
              Show more
            </Button>
          ) : null}
          {shown.length > 0 ? (
            <p className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-3 max-sm:hidden">
              <span>
                <Kbd>j</Kbd> <Kbd>k</Kbd> next and previous
              </span>
              <span>
                In a call: <Kbd>a</Kbd> approve, <Kbd>e</Kbd> edit, <Kbd>d</Kbd> deny, <Kbd>Esc</Kbd> close
              </span>
            </p>
          ) : null}
        </TabPanel>
      </Tabs>
      {id ? (
        <ApprovalDrawer
          id={id}
          mayDecide={mayDecide}
          onClose={() => open(undefined)}
          onNext={around.next ? () => open(around.next) : undefined}
          onBefore={around.before ? () => open(around.before) : undefined}
        />
      ) : null}
    </>
  );
}

const count = (length: number, more = length >= MOST): string | undefined => (length === 0 ? undefined : `${length}${more ? "+" : ""}`);

function List({ approvals, batch }: { approvals: Approval[]; batch: boolean }) {
  const tools = useQuery(toolsQuery);
  const byId = useMemo(() => new Map(tools.data?.map((tool) => [tool.id, tool])), [tools.data]);
  const [ids, setIds] = useState<string[]>([]);
  // What is no longer there can't be chosen any more.
  const chosen = approvals.filter((one) => ids.includes(one.id));
  const flip = (id: string) => setIds((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id]));
  return (
    <>
      {chosen.length > 0 ? <BatchBar chosen={chosen} onDone={() => setIds([])} /> : null}
      <ul className="divide-y divide-line">
        {approvals.map((approval) => (
          <ApprovalRow
            key={approval.id}
            approval={approval}
            tool={byId.get(approval.tool_id)}
            choosing={
              batch
                ? {
                    chosen: ids.includes(approval.id),
                    able: isShown(approval) && (chosen.length === 0 || goTogether(chosen[0]!, approval)),
                    onChange: () => flip(approval.id),
                  }
                : undefined
            }
          />
        ))}
      </ul>
    </>
  );
}

/**
 * The calls before and after the open one. A call that was just decided has left the list; what stood after it is
 * remembered, so that `j` goes on from there.
 */
function useAround(shown: Approval[], id: string | undefined): { before?: string; next?: string } {
  const [last, setLast] = useState<{ id: string; before: string[]; after: string[] } | null>(null);
  const at = shown.findIndex((one) => one.id === id);
  useEffect(() => {
    if (at < 0 || id === undefined) return;
    const ids = shown.map((one) => one.id);
    setLast({ id, before: ids.slice(0, at), after: ids.slice(at + 1) });
  }, [shown, at, id]);
  if (at >= 0) return { before: shown[at - 1]?.id, next: shown[at + 1]?.id };
  if (!id) return {};
  const there = new Set(shown.map((one) => one.id));
  const known = last?.id === id ? last : { before: [], after: [] };
  return {
    next: known.after.find((one) => there.has(one)) ?? shown[0]?.id,
    before: known.before.findLast((one) => there.has(one)),
  };
}

/** `j` and `k` walk through the rows; Enter opens one, as any link. */
function useListKeys(on: boolean): void {
  useEffect(() => {
    if (!on) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key !== "j" && event.key !== "k") return;
      // A dialog above the page has its own keys.
      if (document.querySelector('[role="dialog"]')) return;
      const rows = [...document.querySelectorAll<HTMLElement>("[data-approval]")];
      const at = rows.findIndex((row) => row === document.activeElement);
      const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)));
      rows[next]?.focus();
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [on]);
}
