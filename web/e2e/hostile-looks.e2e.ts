import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { launch, open, picture, setUp, sticksOut, type Watched, WIDTHS } from "./browser";
import { Gate } from "./gate";
import { offer, Scripted } from "./governed";
import { agent } from "./people";

/** Code, characters that nobody sees or that turn the rest around, and a word without an end. */
const HOSTILE = `<script>window.pwned=1</script><img src=x onerror=window.pwned=1>\u202Egnp.exe\u202C zero\u200Bwidth \u2066x\u2069`;
const UNSEEN = /[\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/;

const ENDLESS = "W".repeat(10_000);

/** Hostile words of a length. */
const words = (length: number, hostile = HOSTILE) => (hostile + ENDLESS).slice(0, length);

let gate: Gate;
let browser: Browser;
let watched: Watched;
let page: Page;
let scripted: Scripted;
const ids = { run: "", pending: "" };
const folder = mkdtempSync(join(tmpdir(), "toolgate-hostile-"));

/** Writes something that must be taken as it is: what is stored is for pages to show safely. */
async function put(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await gate.api(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body).slice(0, 400)}`);
  return answer.body;
}

/** The same with a text as hostile and as long as it is taken: some fields refuse what nobody sees, most an endless word. */
async function putLong(method: string, path: string, body: (text: string) => unknown): Promise<any> {
  for (const hostile of [HOSTILE, HOSTILE.replaceAll(new RegExp(UNSEEN, "g"), "")]) {
    for (const length of [10_000, 2_000, 500, 200, 120]) {
      const answer = await gate.api(method, path, body(words(length, hostile)));
      if (answer.status < 300) return answer.body;
      expect(answer.status, "what is refused is the caller's mistake").toBeLessThan(500);
    }
  }
  throw new Error(`${method} ${path} takes no hostile words of any length`);
}

beforeAll(async () => {
  mkdirSync(join(folder, "tools"));
  const tool = {
    id: "trial__hostile", title: HOSTILE, description: words(8_000), category: "trial", icon: "scale", effect: "mutate", approval: "always_ask",
    input_schema: { type: "object", properties: { x: { type: "string", title: HOSTILE, description: words(2_000) } } },
    output_schema: { type: "object" }, redaction: { allow: ["*"] }, execution: { kind: "external" },
  };
  writeFileSync(join(folder, "tools/hostile.json"), JSON.stringify(tool));
  writeFileSync(join(folder, "toolgate.toml"), `[tools]\nfolder = ${JSON.stringify(join(folder, "tools"))}\n`);
  gate = await Gate.start("--config", join(folder, "toolgate.toml"));
  browser = await launch();
  watched = await open(browser);
  page = watched.page;
  await setUp(page, gate);

  await putLong("PUT", "/roles/hostile", (description) => ({ description, rules: ["crm.contacts.read"] }));
  await putLong("POST", "/principals", (title) => ({ id: "service:hostile", title }));
  await putLong("PUT", "/toolsets/hostile", (text) => ({ title: text.slice(0, 120), description: text, tools: ["core__*"] }));
  await putLong("PUT", "/profiles/hostile", (description) => ({ description, rate_per_minute: 5 }));
  await putLong("POST", "/keys", (label) => ({ principal: "service:hostile", label }));
  await putLong("POST", "/kills", (reason) => ({ kind: "tool", target: "fixture__wipe", reason }));
  await putLong("POST", "/oauth/clients", (name) => ({ id: "hostile", name, redirect_uris: ["https://desk.example.com/back"], scopes: ["tools:read"] }));
  const { text } = await put("GET", "/policy");
  await putLong("PUT", "/policy", (note) => ({ text: `${text}\n// <script>window.pwned=1</script>\n`, note }));
  const ledger = await agent(gate, page, "ledger", ["fixture__transfer", "core__get_current_time"]);
  ids.run = (await ledger.forMe("core__get_current_time", { timezone: words(200) })).call_id;
  ids.pending = (await ledger.forMe("fixture__transfer", { amount: 1, to: words(10_000) })).call_id;
  await putLong("POST", `/invocations/${ids.pending}/remarks`, (text) => ({ text }));
  scripted = new Scripted([offer("hostile", words(10_000), { q: { type: "string", description: words(2_000) } })]);
  await scripted.add(gate, "notes");
  watched.wrong.splice(0);
});

afterEach(() => {
  // The browser says of itself what was not found.
  expect(watched.wrong.splice(0).filter((line) => !/status of 404/.test(line))).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
  scripted?.end();
  rmSync(folder, { recursive: true, force: true });
});

const pages = [
  "/",
  "/?q=trial",
  "/tools/trial__hostile",
  "/tools/trial__hostile?tab=schema",
  "/tools/trial__hostile?tab=access",
  "/runs",
  "/runs?run={run}",
  "/runs?run={pending}",
  "/tools/fixture__transfer?tab=history",
  "/approvals",
  "/approvals?id={pending}",
  "/registry",
  "/registry?id=trial__hostile",
  "/toolsets",
  "/toolsets?id=hostile",
  "/profiles",
  "/profiles?id=hostile",
  "/principals?kind=service",
  "/principals?kind=service&id=service:hostile",
  "/roles",
  "/roles?id=hostile",
  "/keys",
  "/kills",
  "/applications?tab=named",
  "/applications?tab=named&id=hostile",
  "/policy",
  "/policy?tab=versions",
  "/policy?tab=versions&version=1",
  "/policy?tab=explain&tool=trial__hostile",
  "/upstreams?tab=review",
  "/upstreams?tab=review&tool=mcp__notes__hostile",
  "/audit",
  "/notifications",
  "/usage",
];

test.each(pages)("%s shows what others wrote as words, all of it in sight", async (path) => {
  await page.goto(gate.url + path.replace("{run}", ids.run).replace("{pending}", ids.pending));
  await page.locator("h1, [role=dialog] h2").first().waitFor();
  await page.waitForLoadState("networkidle", { timeout: 2_000 }).catch(() => undefined);
  for (const [width, viewport] of WIDTHS) {
    await page.setViewportSize(viewport);
    await picture(page, "hostile", path, width);
    // Charts take a moment to follow a page that became narrower.
    await expect.poll(() => sticksOut(page), { message: `the page scrolls sideways, ${width}`, timeout: 5_000 }).toEqual([]);
  }
  expect(await page.evaluate(() => (window as { pwned?: unknown }).pwned)).toBeUndefined();
  expect(await page.locator('body script:not([src]), img[src="x"]').count()).toBe(0);
  // Fields and editors hold a text as it is; what a page says of it must not turn around or hide.
  const raw = await page.evaluate((pattern) => {
    const unseen = new RegExp(pattern);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const inside = node.parentElement!;
      if (unseen.test(node.textContent ?? "") && !inside.closest("script, style, textarea, .cm-editor")) found.push(inside.outerHTML.slice(0, 300));
    }
    return found;
  }, UNSEEN.source);
  expect(raw).toEqual([]);
});

test("a tool with a hostile name is found by its id and opened", async () => {
  await page.setViewportSize(WIDTHS[0][1]);
  await page.goto(`${gate.url}/?q=trial__hostile`);
  await page.getByRole("article").first().getByRole("link").click();
  await page.waitForURL(/\/tools\/trial__hostile/);
  await page.getByRole("heading", { level: 1 }).waitFor();
});
