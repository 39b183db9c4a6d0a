import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type Connection = Schemas["ConnectionView"];

/** One's own connections and the shared ones; all of them for those who manage them. */
export const connectionsQuery = pagesQuery(["connections", "list"], (cursor) =>
  unwrap(api.GET("/api/v1/connections", { params: { query: { limit: 200, cursor } } })),
);

/** How a secret is used, in words. */
export const kindWords: Record<string, string> = {
  token: "Bearer token",
  header: "Header",
  env: "Environment variable",
  oauth: "Login",
};
