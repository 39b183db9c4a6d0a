import { infiniteQueryOptions } from "@tanstack/react-query";

type Paged = { next_cursor?: string | null };

/** A list that comes in pages: `ask` gets where the next one starts. */
export const pagesQuery = <Page extends Paged>(key: readonly unknown[], ask: (cursor: string | undefined) => Promise<Page>) =>
  infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam }) => ask(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

/** What a write expects: that a document still has the revision that was seen, or that there is none yet. */
export const expecting = (revision: number | null | undefined): { "If-Match"?: string; "If-None-Match"?: string } =>
  revision == null ? { "If-None-Match": "*" } : { "If-Match": `"${revision}"` };
