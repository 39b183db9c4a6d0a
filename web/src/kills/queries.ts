import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type Kill = Schemas["KillView"];

/** The thrown switches. */
export const killsQuery = pagesQuery(["kills"], (cursor) => unwrap(api.GET("/api/v1/kills", { params: { query: { limit: 200, cursor } } })));

/** What a switch stops, in words. */
export const killWords: Record<string, string> = {
  tool: "Tool",
  principal: "Person or agent",
  connection: "Connection",
  session: "Session",
  tenant: "Everything",
};
