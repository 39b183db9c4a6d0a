import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { launch, open, picture, setUp, signIn, violations, type Watched, WIDTHS } from "./browser";
import { Gate, PASSWORD } from "./gate";

/** A verifier and its challenge (RFC 7636, appendix B). */
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

let gate: Gate;
let browser: Browser;
let watched: Watched;
let page: Page;
let editor: Server;
let back: string;

beforeAll(async () => {
  gate = await Gate.start();
  browser = await launch();
  watched = await open(browser);
  page = watched.page;
  editor = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<title>Editor</title><p>Back in the editor"));
  await new Promise<void>((resolve) => editor.listen(0, "127.0.0.1", resolve));
  back = `http://127.0.0.1:${(editor.address() as AddressInfo).port}/back`;
});

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
  editor?.close();
});

/** Looks at what the page shows now, in light and dark, wide and narrow. */
async function looksRight(name: string): Promise<void> {
  for (const [width, viewport] of WIDTHS) {
    await page.setViewportSize(viewport);
    for (const scheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await picture(page, "public", name, width, scheme);
      expect(await violations(page), `${name}, ${width}, ${scheme}`).toEqual([]);
    }
  }
}

test("setting up, and a password that is too short", async () => {
  await page.goto(gate.setUpLink);
  await looksRight("set-up");
  await page.goto(gate.setUpLink.replace(/token=.*/, `token=${"0".repeat(64)}`));
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create and sign in" }).click();
  await page.getByRole("alert").waitFor();
  await looksRight("set-up-refused");
  watched.wrong.splice(0).forEach((line) => expect(line).toMatch(/status of 4\d\d/));
  await setUp(page, gate);
  expect(watched.wrong).toEqual([]);
});

test("an invitation leads in, once", async () => {
  await gate.api("POST", "/principals", { id: "user:bob" });
  const { url } = (await gate.api("POST", "/principals/user:bob/invite")).body;
  const bob = await open(browser);
  await bob.page.goto(url);
  expect(await violations(bob.page)).toEqual([]);
  await bob.page.getByLabel("Your name").fill("<b>Bob</b>");
  await bob.page.getByLabel("Password").fill(PASSWORD);
  await bob.page.getByRole("button", { name: "Save and sign in" }).click();
  await bob.page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
  await bob.page.goto(url);
  await bob.page.getByLabel("Password").fill(PASSWORD);
  await bob.page.getByRole("button", { name: "Save and sign in" }).click();
  await bob.page.getByRole("alert").filter({ hasText: "does not work" }).waitFor();
  await bob.context.close();
});

test("a wrong password is told in words, and the way back is kept", async () => {
  const stranger = await open(browser);
  await stranger.page.goto(`${gate.url}/runs`);
  await stranger.page.waitForURL(/\/sign-in\?return_to=/);
  await stranger.page.getByLabel("Login").fill("ada");
  await stranger.page.getByLabel("Password").fill("not the right one");
  await stranger.page.getByRole("button", { name: "Sign in" }).click();
  await stranger.page.getByRole("alert").waitFor();
  expect(await violations(stranger.page)).toEqual([]);
  await signIn(stranger.page);
  await stranger.page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
  await stranger.context.close();
});

test("an application is let in on the consent page, with less than it asked for", async () => {
  await gate.api("POST", "/oauth/clients", { id: "editor", name: "My <Editor>", redirect_uris: [back] });
  const query = new URLSearchParams({
    client_id: "editor", redirect_uri: back, response_type: "code", scope: "tools approve", state: "x y&z",
    code_challenge: CHALLENGE, code_challenge_method: "S256", resource: `${gate.url}/mcp`,
  });
  await page.goto(`${gate.url}/oauth/authorize?${query}`);
  await page.getByText("My <Editor>").first().waitFor();
  await looksRight("consent");
  expect(await page.getByRole("checkbox", { name: /decide, in your name/ }).isChecked(), "not unless you say so").toBe(false);
  await page.getByRole("checkbox", { name: /only tools that read/ }).check();
  await page.getByRole("button", { name: "Let it in" }).click();
  await page.waitForURL((url) => url.pathname === "/back");
  const got = new URL(page.url()).searchParams;
  expect(got.get("state")).toBe("x y&z");
  const token = await fetch(`${gate.url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code", code: got.get("code")!, client_id: "editor", redirect_uri: back,
      code_verifier: VERIFIER, resource: `${gate.url}/mcp`,
    }),
  });
  const granted = (await token.json()) as { scope: string; access_token: string };
  expect([token.status, granted.scope]).toEqual([200, "tools:read"]);
  expect(watched.wrong).toEqual([]);

  await page.goto(`${gate.url}/oauth/authorize?${query}`);
  await page.getByRole("button", { name: "Do not" }).click();
  await page.waitForURL((url) => url.pathname === "/back");
  expect(new URL(page.url()).searchParams.get("error")).toBe("access_denied");
});
