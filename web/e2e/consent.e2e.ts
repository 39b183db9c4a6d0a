import { execFileSync } from "node:child_process";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { launch, open, setUp, signIn, violations, type Watched } from "./browser";
import { Gate } from "./gate";

const root = join(import.meta.dirname, "../..");
const CLOCK = "core__get_current_time";

let gate: Gate;
let browser: Browser;
let watched: Watched;
let page: Page;
let desktop: Server;
let back: string;
let sentBack: (query: URLSearchParams) => void;
let sdk: { Client: any; StreamableHTTPClientTransport: any; UnauthorizedError: any };

beforeAll(async () => {
  // The official SDK, as hosts build their clients on it; not a part of this app.
  execFileSync(join(root, "scripts/need-clients"), { stdio: "inherit" });
  const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
  const from = createRequire(join(target, "mcp/clients/package.json"));
  const load = (path: string) => import(/* @vite-ignore */ pathToFileURL(from.resolve(`@modelcontextprotocol/sdk/${path}`)).href);
  const parts = await Promise.all(["client/index.js", "client/streamableHttp.js", "client/auth.js"].map(load));
  sdk = Object.assign({}, ...parts);
  gate = await Gate.start();
  browser = await launch();
  watched = await open(browser);
  page = watched.page;
  // What a desktop application listens with for the way back.
  desktop = createServer((request, answer) => {
    const url = new URL(request.url!, back);
    if (url.pathname === "/callback") sentBack(url.searchParams);
    answer.setHeader("content-type", "text/html").end("<!doctype html><title>Desktop</title><p>Back in the application");
  });
  await new Promise<void>((resolve) => desktop.listen(0, "127.0.0.1", resolve));
  back = `http://127.0.0.1:${(desktop.address() as AddressInfo).port}/callback`;
}, 300_000);

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
  desktop?.close();
});

/** A desktop application: all it is given is the gate's address and its own id. */
class Desktop {
  readonly seen: string[] = [];
  tokens: any;
  private verifier = "";
  private code: Promise<URLSearchParams> | undefined;

  constructor(private readonly person: (address: URL) => Promise<void>) {}

  private provider() {
    return {
      redirectUrl: back,
      clientMetadata: { client_name: "Desktop", redirect_uris: [back], token_endpoint_auth_method: "none" },
      state: () => "of the desktop",
      clientInformation: () => ({ client_id: "desktop" }),
      tokens: () => this.tokens,
      saveTokens: (given: any) => (this.tokens = given),
      saveCodeVerifier: (made: string) => (this.verifier = made),
      codeVerifier: () => this.verifier,
      invalidateCredentials: () => (this.tokens = undefined),
      redirectToAuthorization: async (address: URL) => {
        this.seen.push("sent to the browser");
        this.code = new Promise((resolve) => (sentBack = resolve));
        await this.person(address);
      },
    };
  }

  /** Connects, with the person's help where there are no tokens that work. */
  async connect(): Promise<any> {
    const transport = new sdk.StreamableHTTPClientTransport(new URL(`${gate.url}/mcp`), { authProvider: this.provider() });
    const client = new sdk.Client({ name: "desktop", version: "1" });
    try {
      await client.connect(transport);
      return client;
    } catch (error) {
      if (!(error instanceof sdk.UnauthorizedError)) throw error;
      const query = await this.code!;
      expect([query.get("state"), query.get("iss")]).toEqual(["of the desktop", gate.url]);
      if (query.has("error")) throw new Error(query.get("error")!, { cause: error });
      await transport.finishAuth(query.get("code"));
      return this.connect();
    }
  }
}

test("an application that is named here is set up by nobody but its person", async () => {
  await setUp(page, gate);
  const made = await gate.api("POST", "/oauth/clients", { id: "desktop", name: "Desk\u200Btop", redirect_uris: [back] });
  expect([made.status, made.body.client?.name ?? made.body.name]).toEqual([201, "Desktop"]);
});

test("who is not signed in signs in, reads, and lets it in; then it calls tools until it is shut out", async () => {
  const stranger = await open(browser);
  const application = new Desktop(async (address) => {
    // As the application opens it: a fresh window of a person who is not signed in.
    await stranger.page.goto(address.href);
    await stranger.page.waitForURL(/\/sign-in\?/);
    await signIn(stranger.page);
    await stranger.page.getByText("asks to act for you").waitFor();
    expect(await violations(stranger.page)).toEqual([]);
    await stranger.page.getByText(`${gate.url}/mcp`).waitFor();
    await stranger.page.getByRole("button", { name: "Let it in" }).click();
    await stranger.page.getByText("Back in the application").waitFor();
  });
  const client = await application.connect();
  expect(application.seen).toEqual(["sent to the browser"]);
  const result = await client.callTool({ name: CLOCK, arguments: { timezone: "Europe/Berlin" } });
  expect(result.structuredContent.timezone).toBe("Europe/Berlin");
  expect(stranger.wrong).toEqual([]);
  await stranger.context.close();

  // The person sees what they let in, and what it did in their name.
  await page.goto(`${gate.url}/applications`);
  const row = page.getByRole("row").filter({ hasText: "Desktop" });
  await row.getByText("desktop", { exact: true }).waitFor();
  await page.goto(`${gate.url}/runs`);
  await page.getByRole("link", { name: new RegExp(CLOCK) }).or(page.getByText(CLOCK)).first().waitFor();
  await page.goto(`${gate.url}/applications`);
  await row.getByRole("button", { name: "Take back…" }).click();
  await row.getByRole("button", { name: "Yes, shut it out" }).click();
  await page.getByText("No application was let in").waitFor();

  const answer = await fetch(`${gate.url}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${application.tokens.access_token}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, expect.stringContaining("resource_metadata=")]);
  // The application itself finds that neither of its tokens works, and has to ask its person again.
  const asked = new Promise<void>((resolve) => {
    const again = new Desktop(async () => resolve());
    again.tokens = application.tokens;
    again.connect().catch(() => undefined);
  });
  await asked;
  await expect(client.callTool({ name: CLOCK, arguments: {} })).rejects.toThrow();
  await client.close().catch(() => undefined);
  expect(watched.wrong).toEqual([]);
});

test("whoever says no is taken back with a no", async () => {
  const application = new Desktop(async (address) => {
    await page.goto(address.href);
    await page.getByRole("button", { name: "Do not" }).click();
    await page.getByText("Back in the application").waitFor();
  });
  await expect(application.connect()).rejects.toThrow("access_denied");
  expect(application.tokens).toBeUndefined();
  expect((await gate.api("GET", "/oauth/grants?all=true")).body.grants).toEqual([]);
});
