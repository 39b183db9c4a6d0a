import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type OauthClient = Schemas["OauthClientView"];
export type OauthGrant = Schemas["OauthGrantView"];

/** The applications that were named here. */
export const oauthClientsQuery = pagesQuery(["oauth", "clients"], (cursor) =>
  unwrap(api.GET("/api/v1/oauth/clients", { params: { query: { limit: 200, cursor } } })),
);

/** What I let applications do, or what everyone did. */
export const oauthGrantsQuery = (all: boolean) =>
  pagesQuery(["oauth", "grants", all ? "all" : "mine"], (cursor) =>
    unwrap(api.GET("/api/v1/oauth/grants", { params: { query: { limit: 200, all: all || undefined, cursor } } })),
  );

/** What a scope lets an application do. */
export const scopeWords: Record<string, string> = {
  tools: "Call tools",
  "tools:read": "Call tools that only read",
  approve: "Decide on calls",
};
