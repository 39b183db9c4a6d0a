import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";

export type RegistryTool = Schemas["RegistryToolView"];

/** How many tools a page of the list has, and how many pages are ever asked for. */
const PAGE = 1000;
const MOST = 20;

async function everyTool(): Promise<RegistryTool[]> {
  const tools: RegistryTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST; page += 1) {
    const part = await unwrap(api.GET("/api/v1/registry", { params: { query: { limit: PAGE, cursor } } }));
    tools.push(...part.tools);
    cursor = part.next_cursor ?? undefined;
    if (cursor === undefined) break;
  }
  return tools;
}

/** Every tool the tenant can have, on or off. */
export const registryQuery = queryOptions({ queryKey: ["registry", "list"], queryFn: everyTool });

/** One tool and whether it is on. */
export const registryToolQuery = (tool: string) =>
  queryOptions({
    queryKey: ["registry", "one", tool],
    queryFn: () => unwrap(api.GET("/api/v1/registry/{tool}", { params: { path: { tool } } })),
  });

/** Why a tool is on or off. */
export const enablementWords: Record<string, string> = {
  on_by_default: "On by default",
  on_by_tenant: "Switched on here",
  on_for_all: "On for every tenant",
  off_by_default: "Off by default",
  off_by_tenant: "Switched off here",
  off_for_all: "Off for every tenant",
};
