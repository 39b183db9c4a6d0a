import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useRef } from "react";

import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";
import { queryClient } from "@/api/queries";

export type Entity = Schemas["EntityView"];

const PAGE = 20;

/** The types of entities this person may look through. */
export const entityTypesQuery = queryOptions({
  queryKey: ["entities"],
  queryFn: async () => (await unwrap(api.GET("/api/v1/entities"))).types,
  staleTime: 5 * 60_000,
});

/** What fits what was typed, best first; everything when nothing was. */
export const entitiesQuery = (type: string, text: string) => ({
  ...pagesQuery(["entities", type, "found", text], (cursor) =>
    unwrap(
      api.GET("/api/v1/entities/{type}", { params: { path: { type }, query: { q: text || undefined, cursor, limit: PAGE } } }),
    ),
  ),
  // What was found before stays until there is something else to show.
  placeholderData: keepPreviousData,
});

/** The names of those types: none while they are not known, and an empty list when they can't be asked for. */
export function useEntityTypes(wanted: boolean): readonly string[] | undefined {
  // Forms are drawn in tests without a page around them, so the client is named.
  const types = useQuery({ ...entityTypesQuery, enabled: wanted }, queryClient);
  return types.isError ? [] : types.data?.map((type) => type.name);
}

/** The server names so many ids at once. */
const MOST = 100;

/** What ids stand for. `missing` are those that nobody here knows, once that is certain. */
export function useEntityNames(type: string, ids: readonly string[]): { named: ReadonlyMap<string, Entity>; missing: readonly string[]; learn: (entity: Entity) => void } {
  const known = useRef(new Map<string, Entity>());
  const unknown = ids.filter((id) => !known.current.has(id)).slice(0, MOST);
  const found = useQuery(
    {
      queryKey: ["entities", type, "named", unknown],
      queryFn: async () =>
        (await unwrap(api.GET("/api/v1/entities/{type}", { params: { path: { type }, query: { id: unknown } } }))).items,
      enabled: unknown.length > 0,
      staleTime: 5 * 60_000,
    },
    queryClient,
  );
  for (const entity of found.data ?? []) known.current.set(entity.id, entity);
  return {
    named: known.current,
    missing: found.isSuccess ? unknown.filter((id) => !known.current.has(id)) : [],
    learn: (entity) => known.current.set(entity.id, entity),
  };
}
