import { useInfiniteQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { Check, Search } from "lucide-react";
import { useState } from "react";

import { asProblem } from "@/api/error";
import { queryClient } from "@/api/queries";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { cn } from "@/lib/cn";
import { clipped } from "@/lib/visible";

import { entitiesQuery, type Entity } from "./queries";
import { useSettled } from "./settled";

const PAUSE = 150;
/** No id has a space in it. */
const MORE = "show more";
const LONGEST = 120;
const itemLook =
  "flex min-h-9 cursor-pointer items-center gap-2 rounded-lg px-2 py-1.5 text-sm text-ink-2 data-[selected=true]:bg-hover data-[selected=true]:text-ink";

/** A field to search by, and what fits. */
export function EntityList({ type, label, text, onText, chosen, several, onChoose }: {
  type: string;
  label: string;
  text: string;
  onText: (text: string) => void;
  chosen: readonly string[];
  several: boolean;
  onChoose: (entity: Entity) => void;
}) {
  const wanted = useSettled(text.trim(), PAUSE);
  const found = useInfiniteQuery(entitiesQuery(type, wanted), queryClient);
  const entities = found.data?.pages.flatMap((page) => page.items) ?? [];
  // What Enter would choose; the first when what it was is not there any more.
  const [marked, setMarked] = useState("");
  const stays = marked === MORE ? found.hasNextPage : entities.some((entity) => entity.id === marked);
  return (
    <Command shouldFilter={false} loop label={`Search for ${label}`} value={stays ? marked : (entities[0]?.id ?? "")} onValueChange={setMarked}>
      <div className="flex items-center gap-2 border-b border-line px-3">
        <Search aria-hidden className="size-4 shrink-0 text-ink-3" />
        <Command.Input
          value={text}
          onValueChange={onText}
          autoFocus
          maxLength={200}
          placeholder="Search by name or id"
          className="h-10 w-full bg-transparent text-sm outline-none"
        />
      </div>
      <Command.List label={label} className="max-h-72 overflow-y-auto p-1">
        {entities.map((entity) => (
          <Command.Item key={entity.id} value={entity.id} className={itemLook} onSelect={() => onChoose(entity)}>
            <Check aria-hidden className={cn("size-4 shrink-0 text-accent-ink", !chosen.includes(entity.id) && "invisible")} />
            <span className="min-w-0 flex-1">
              <span className="block truncate">
                {clipped(entity.title, LONGEST)}
                {chosen.includes(entity.id) ? <span className="sr-only">, chosen</span> : null}
              </span>
              <span className="block truncate text-xs text-ink-3">
                <span className="font-mono">{clipped(entity.id, LONGEST)}</span>
                {entity.detail ? ` · ${clipped(entity.detail, LONGEST)}` : ""}
              </span>
            </span>
          </Command.Item>
        ))}
        {found.hasNextPage ? (
          <Command.Item value={MORE} className={cn(itemLook, "text-accent-ink")} disabled={found.isFetchingNextPage} onSelect={() => void found.fetchNextPage()}>
            <span className="pl-6">{found.isFetchingNextPage ? "Loading…" : "Show more"}</span>
          </Command.Item>
        ) : null}
      </Command.List>
      <div role="status" className={cn("px-3 text-sm text-ink-3", entities.length > 0 && !several ? "sr-only" : "pb-3 pt-2")}>
        {found.isPending ? (
          <div aria-busy>
            <span className="sr-only">Searching</span>
            <Skeleton className="h-4" />
            <Skeleton className="mt-2 h-4 w-2/3" />
          </div>
        ) : found.isError ? (
          <div className="flex items-center justify-between gap-3">
            {asProblem(found.error).sentence}
            <Button size="sm" onClick={() => void found.refetch()}>
              Try again
            </Button>
          </div>
        ) : entities.length === 0 ? (
          <p className="py-3 text-center">{wanted === "" ? "There is nothing to choose." : `Nothing fits “${clipped(wanted, 40)}”.`}</p>
        ) : several ? (
          <span className="text-xs">{chosen.length === 0 ? "Choose as many as you like." : `${chosen.length} chosen.`}</span>
        ) : (
          `${entities.length} found`
        )}
      </div>
    </Command>
  );
}
