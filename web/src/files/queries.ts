import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";

export type File = Schemas["FileView"];

/** One file of mine. */
export const fileQuery = (id: string) =>
  queryOptions({
    queryKey: ["file", id],
    queryFn: () => unwrap(api.GET("/api/v1/files/{id}", { params: { path: { id } } })),
    staleTime: 5 * 60_000,
  });

/** How large a file may be, in bytes. */
export const largestFileQuery = queryOptions({
  queryKey: ["files", "largest"],
  queryFn: async () => (await unwrap(api.GET("/api/v1/files", { params: { query: { limit: 1 } } }))).max_bytes,
  staleTime: 5 * 60_000,
});

/** The files a run names that are still there. */
export const runFilesQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "files"],
    queryFn: async () => (await unwrap(api.GET("/api/v1/invocations/{id}/files", { params: { path: { id } } }))).files,
  });

/** Where a file of mine is read. */
export const contentOf = (id: string): string => `/api/v1/files/${encodeURIComponent(id)}/content`;

/** Where a file that a run names is read. */
export const contentIn = (run: string, id: string): string => `/api/v1/invocations/${encodeURIComponent(run)}/files/${encodeURIComponent(id)}`;

const FILE_ID = /"(fil_[0-9a-f]{32})"/g;

/** What may be ids of files in a value; the server knows which of them are. */
export function fileIdsIn(value: unknown): string[] {
  const text = JSON.stringify(value) ?? "";
  return [...new Set([...text.matchAll(FILE_ID)].map((match) => match[1]!))];
}
