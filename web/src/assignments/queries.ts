import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type Assignment = Schemas["AssignmentView"];

/** Which agents have which tools. */
export const assignmentsQuery = (agent?: string) =>
  pagesQuery(["assignments", "list", agent ?? "all"], (cursor) =>
    unwrap(api.GET("/api/v1/assignments", { params: { query: { limit: 200, agent, cursor } } })),
  );

/** What tells an assignment from others, in the address too. */
export const assignmentKey = (one: Assignment): string => `${one.agent} ${one.tool ? `tool ${one.tool}` : `toolset ${one.toolset}`}`;
