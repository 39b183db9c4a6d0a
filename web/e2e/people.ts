import type { Browser, Page } from "playwright-core";

import { open, type Watched } from "./browser";
import { ADMIN_KEY, type Gate, LOGIN, PASSWORD } from "./gate";

/** Asks the API as whoever is signed in on this page. */
export async function asPerson(page: Page, method: string, path: string, body?: unknown): Promise<any> {
  return page.evaluate(
    async ({ method, path, body }) => {
      const { csrf_token } = await (await fetch("/api/v1/auth/session")).json();
      const answer = await fetch(`/api/v1${path}`, {
        method,
        headers: { "content-type": "application/json", "x-toolgate-csrf": csrf_token },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      return answer.json().catch(() => null);
    },
    { method, path, body },
  );
}

/** An agent that has tools; its own key, and one with which it works for whoever is signed in on the page. */
export async function agent(gate: Gate, page: Page, name: string, tools: string[]): Promise<{ own: Caller; forMe: Caller }> {
  const id = `agent:${name}`;
  await gate.api("POST", "/principals", { id, title: name, acts_for: ["user:*"] });
  for (const tool of tools) await gate.api("PUT", "/assignments", { agent: id, tool });
  const own = (await gate.api("POST", "/keys", { principal: id, label: "own" })).body.secret;
  const forMe = (await asPerson(page, "POST", "/keys", { principal: id, label: "for me", on_behalf: true })).secret;
  return { own: caller(gate, own), forMe: caller(gate, forMe) };
}

export type Caller = (tool: string, input: unknown) => Promise<any>;

/** Calls tools with a key. */
export function caller(gate: Gate, key: string = ADMIN_KEY): Caller {
  return async (tool, input) => {
    const answer = await fetch(`${gate.url}/api/v1/tools/${tool}/invoke?wait=5`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ input }),
    });
    return answer.json();
  };
}

/** Another person, invited and signed in with a browser of their own. */
export async function invited(browser: Browser, gate: Gate, login: string, roles: string[]): Promise<Watched> {
  await gate.api("POST", "/principals", { id: `user:${login}`, roles });
  const { url } = (await gate.api("POST", `/principals/user:${login}/invite`)).body;
  const watched = await open(browser);
  await watched.page.goto(url);
  await watched.page.getByLabel("Password").fill(PASSWORD);
  await watched.page.getByRole("button", { name: "Save and sign in" }).click();
  await watched.page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
  return watched;
}

/** The first administrator's id. */
export const ME = `user:${LOGIN}`;
