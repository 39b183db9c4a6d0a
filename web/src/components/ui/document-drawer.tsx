import { type QueryKey, useMutation, useQuery, useQueryClient, type UseQueryOptions } from "@tanstack/react-query";
import { GitCompare } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";

import { ApiProblem } from "@/api/error";
import { principalName } from "@/lib/format";

import { Button } from "./button";
import { ConfirmButton } from "./confirm-button";
import { Drawer } from "./drawer";
import { RelativeTime } from "./relative-time";
import { Loading, Skeleton } from "./skeleton";
import { ErrorNote, ErrorState } from "./states";
import { toast } from "./toast";

/**
 * Loads what a form is about and holds it as it was then: news must not wipe out what someone is typing. `again` loads
 * it anew, with a fresh form.
 */
export function Held<T>({ query, title, what, onClose, children }: {
  query: UseQueryOptions<T, Error, T, never>;
  title: string;
  /** For sentences: `the role`. */
  what: string;
  onClose: () => void;
  children: (held: T, again: () => void) => ReactNode;
}) {
  const asked = useQuery({ ...query, staleTime: 0, gcTime: 0, refetchOnWindowFocus: false, refetchOnReconnect: false } as UseQueryOptions<T>);
  const [held, setHeld] = useState<{ value: T; round: number } | null>(null);
  useEffect(() => {
    if (held === null && asked.data !== undefined && !asked.isFetching) setHeld({ value: asked.data, round: 0 });
  }, [held, asked.data, asked.isFetching]);
  const again = () =>
    void asked.refetch().then(({ data }) => {
      if (data !== undefined) setHeld((before) => ({ value: data, round: (before?.round ?? 0) + 1 }));
    });
  if (held) return <div key={held.round}>{children(held.value, again)}</div>;
  return (
    <Drawer open onClose={onClose} title={<span className="break-all">{title}</span>}>
      {asked.isError ? (
        <ErrorState error={asked.error} what={`${what[0]!.toUpperCase()}${what.slice(1)} could not be loaded`} onRetry={() => void asked.refetch()} />
      ) : (
        <Loading label={`Loading ${what}`} className="space-y-4">
          <Skeleton className="h-9" />
          <Skeleton className="h-24" />
          <Skeleton className="h-9" />
        </Loading>
      )}
    </Drawer>
  );
}

type Stamp = { revision?: number | null; updated_by?: string | null; updated_at?: string | null };

/** A document to write: its form, who wrote it last, Save and Remove. Someone else's write in between is told. */
export function DocumentDrawer({ title, description, badges, seen, ready, save, remove, queryKey, onClose, again, saved = "Saved.", removeWords, wide, children }: {
  title: ReactNode;
  description?: ReactNode;
  badges?: ReactNode;
  /** What was there when the form was opened; none for a new one. */
  seen: Stamp | null;
  ready: boolean;
  save: () => Promise<unknown>;
  remove?: () => Promise<unknown>;
  /** What to ask for again afterwards. */
  queryKey: QueryKey;
  onClose: () => void;
  again?: () => void;
  saved?: string;
  removeWords?: { title: string; sure: string; done: string };
  wide?: boolean;
  children: ReactNode;
}) {
  const client = useQueryClient();
  const words = removeWords ?? { title: "Remove…", sure: "Yes, remove it", done: "Removed." };
  const done = (text: string) => {
    toast(text);
    onClose();
  };
  // The lists: this one document is held as it was, and may be gone by now.
  const settled = () => client.invalidateQueries({ queryKey, predicate: (query) => query.queryKey[1] !== "one" });
  const saving = useMutation({ mutationFn: save, onSuccess: () => done(saved), onSettled: settled });
  const removing = useMutation({ mutationFn: remove ?? (async () => undefined), onSuccess: () => done(words.done), onSettled: settled });
  const busy = saving.isPending || removing.isPending;
  const failed = saving.isError ? saving.error : removing.isError ? removing.error : null;
  return (
    <Drawer
      open
      wide={wide}
      onClose={onClose}
      badges={badges}
      title={title}
      description={description}
      footer={
        <>
          <div className="flex min-w-0 flex-1 flex-wrap items-center gap-3">
            {remove ? <ConfirmButton title={words.title} sure={words.sure} disabled={busy} onSure={() => removing.mutate()} /> : null}
            {seen?.updated_by && seen.updated_at ? (
              <p className="text-xs text-ink-3">
                Written by {principalName(seen.updated_by).name} <RelativeTime at={seen.updated_at} />
                {seen.revision ? `, revision ${seen.revision}` : ""}
              </p>
            ) : null}
          </div>
          <Button look="primary" disabled={!ready || busy} onClick={() => saving.mutate()}>
            {saving.isPending ? "Saving…" : "Save"}
          </Button>
        </>
      }
    >
      {failed ? <WriteError error={failed} isNew={seen === null} again={again} /> : null}
      {children}
    </Drawer>
  );
}

/** Why a write did not happen. When someone else wrote in between, the way to see theirs. */
export function WriteError({ error, isNew, again }: { error: unknown; isNew?: boolean; again?: () => void }) {
  if (!(error instanceof ApiProblem && error.code === "conflict") || isNew || !again) return <ErrorNote error={error} />;
  return (
    <div role="alert" className="flex flex-wrap items-center gap-3 rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn-ink">
      <GitCompare aria-hidden className="size-4 shrink-0" />
      <p className="min-w-0 flex-1">
        It was not saved: {error.message}. Someone may have written it meanwhile; what you typed stays here until you look.
      </p>
      <Button size="sm" onClick={again}>
        Show what stands now
      </Button>
    </div>
  );
}
