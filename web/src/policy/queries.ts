import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type Policy = Schemas["PolicyView"];
export type PolicyProblem = Schemas["PolicyProblemView"];
export type PolicyVersion = Schemas["PolicyVersionView"];
export type Explanation = Schemas["ExplanationView"];
export type Trial = Schemas["PolicyTrialView"];

/** The policies in force. */
export const policyQuery = queryOptions({ queryKey: ["policy", "now"], queryFn: () => unwrap(api.GET("/api/v1/policy")) });

/** The Cedar schema that policies are checked against. */
export const policySchemaQuery = queryOptions({
  queryKey: ["policy", "schema"],
  queryFn: async () => (await unwrap(api.GET("/api/v1/policy/schema"))).schema,
  staleTime: Infinity,
});

/** The versions, newest first. */
export const policyVersionsQuery = pagesQuery(["policy", "versions"], (cursor) =>
  unwrap(api.GET("/api/v1/policy/versions", { params: { query: { limit: 100, cursor: cursor === undefined ? undefined : Number(cursor) } } })),
);

/** One version with its text. */
export const policyVersionQuery = (version: number) =>
  queryOptions({
    queryKey: ["policy", "version", version],
    queryFn: () => unwrap(api.GET("/api/v1/policy/versions/{version}", { params: { path: { version } } })),
    staleTime: Infinity,
  });

/** What changed from one version to another. */
export const policyDiffQuery = (from: number, to: number) =>
  queryOptions({
    queryKey: ["policy", "diff", from, to],
    queryFn: async () => (await unwrap(api.GET("/api/v1/policy/diff", { params: { query: { from, to } } }))).diff,
    staleTime: Infinity,
  });

/** What is wrong with a text and what is odd about it. */
export const policyCheckQuery = (text: string) =>
  queryOptions({
    queryKey: ["policy", "check", text],
    queryFn: () => unwrap(api.POST("/api/v1/policy/validate", { body: { text } })),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
