import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { visible } from "@/lib/visible";

export type ToolSummary = Schemas["ToolSummaryView"];
export type Tool = Schemas["ToolView"];

/** How many tools a page of the list has, and how many are ever asked for. */
const PAGE = 1000;
const MOST = 20;

/** A tool whose words hide nothing: who wrote it may be a stranger. */
function readable<T extends Pick<ToolSummary, "title" | "description" | "category">>(tool: T): T {
  return { ...tool, title: visible(tool.title), description: visible(tool.description), category: visible(tool.category) };
}

async function allTools(): Promise<ToolSummary[]> {
  const tools: ToolSummary[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST; page += 1) {
    const part = await unwrap(api.GET("/api/v1/tools", { params: { query: { limit: PAGE, cursor } } }));
    tools.push(...part.tools.map(readable));
    cursor = part.next_cursor ?? undefined;
    if (cursor === undefined) break;
  }
  return tools;
}

/** Every tool I may call, ordered by id. */
export const toolsQuery = queryOptions({ queryKey: ["tools"], queryFn: allTools, staleTime: 60_000 });

/** One tool with its schemas. */
export const toolQuery = (id: string) =>
  queryOptions({
    queryKey: ["tool", id],
    queryFn: async () => readable(await unwrap(api.GET("/api/v1/tools/{id}", { params: { path: { id } } }))),
    staleTime: 60_000,
  });
