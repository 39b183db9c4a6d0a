import createClient, { type Middleware } from "openapi-fetch";

import { ApiProblem } from "./error";
import type { components, paths } from "./schema";

/** The wire types, by the names the server gives them. */
export type Schemas = components["schemas"];

let token: string | null = null;
let asking: Promise<Schemas["SignedInView"]> | null = null;

/** Who is signed in. Asked once for any number of askers at the same time; keeps the token that changes must carry. */
export function readSignIn(): Promise<Schemas["SignedInView"]> {
  asking ??= fetch("/api/v1/auth/session", { headers: { accept: "application/json" } })
    .then(async (response) => {
      const body: unknown = await response.json().catch(() => null);
      if (!response.ok) throw problemOf(response, body);
      const signedIn = body as Schemas["SignedInView"];
      token = signedIn.csrf_token;
      return signedIn;
    })
    .finally(() => {
      asking = null;
    });
  return asking;
}

/** Leaves for the sign-in page, which leads back here. */
export function goToSignIn(): void {
  const here = window.location.pathname + window.location.search;
  window.location.assign(`/sign-in?${new URLSearchParams({ return_to: here })}`);
}

const guard: Middleware = {
  async onRequest({ request }) {
    if (request.method === "GET" || request.method === "HEAD") return undefined;
    token ??= (await readSignIn()).csrf_token;
    request.headers.set("X-Toolgate-CSRF", token);
    return request;
  },
  onResponse({ response }) {
    // The sign-in ended: whatever was asked can be asked again after the next one.
    if (response.status === 401) goToSignIn();
    return undefined;
  },
};

/** Asks the server; types come from its own OpenAPI document. Prefer `unwrap(api.GET(…))`. */
export const api = createClient<paths>({ baseUrl: "" });
api.use(guard);

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The answer itself, or an `ApiProblem`. */
export async function unwrap<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok) throw problemOf(response, error);
  return data as T;
}

/** An answer that is no success, as an error. */
export function problemOf(response: Response, body: unknown): ApiProblem {
  const error = (body as { error?: Schemas["ErrorView"] } | null)?.error;
  return new ApiProblem(
    response.status,
    error?.code ?? "",
    error?.message ?? `the server answered ${response.status}`,
    error?.hint ?? undefined,
    error?.details,
  );
}
