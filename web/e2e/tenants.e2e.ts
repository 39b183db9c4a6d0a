import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { launch, looksRight, open, picture, setUp, violations, type Watched, NARROW, WIDE } from "./browser";
import { ADMIN_KEY, Gate, PASSWORD } from "./gate";
import { caller } from "./people";

let gate: Gate;
let browser: Browser;
let watched: Watched;
let page: Page;
let acmeKey: string;

/** Asks the API as the administrator of the other tenant. */
async function inAcme(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await fetch(`${gate.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${acmeKey}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return answer.json().catch(() => null);
}

/** The account menu, open. */
async function account(): Promise<void> {
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menu").waitFor();
}

/** Where the shell says that one is. */
const here = (name: string) => page.getByRole("button", { name: new RegExp(`${name}.*Account`) }).waitFor();

async function looks(name: string): Promise<void> {
  for (const [width, viewport] of [["wide", WIDE], ["narrow", NARROW]] as const) {
    await page.setViewportSize(viewport);
    await looksRight(watched, name, width);
  }
  await page.setViewportSize(WIDE);
}

beforeAll(async () => {
  gate = await Gate.start();
  browser = await launch();
  watched = await open(browser);
  page = watched.page;
  await setUp(page, gate);
});

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
});

test("who runs the server makes a tenant and gets its key once", async () => {
  await page.getByRole("link", { name: "Tenants" }).click();
  await page.getByRole("region", { name: "Tenants" }).waitFor();
  await looks("tenants");
  await page.getByRole("button", { name: "New tenant" }).click();
  await page.getByLabel("Its name in addresses").fill("acme");
  await page.getByLabel("What people call it").fill("Acme Ltd");
  await looks("new tenant");
  await page.getByRole("button", { name: "Make the tenant" }).click();
  const shown = page.getByRole("region", { name: "Key", exact: true });
  acmeKey = (await shown.locator("code").textContent())!.trim();
  expect(acmeKey).toMatch(/^tgk_/);
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("link", { name: "acme", exact: true }).click();
  await page.getByRole("button", { name: "Switch off…" }).waitFor();
  await looks("tenant drawer");
  await page.keyboard.press("Escape");
  expect((await inAcme("GET", "/me")).tenant).toBe("acme");
});

test("with one organisation there is only the way to add another", async () => {
  await page.goto(`${gate.url}/`);
  await account();
  expect(await page.getByRole("menuitem").allTextContents()).toEqual(["Add another organisation", "Sign out"]);
  await page.keyboard.press("Escape");
});

test("another organisation is added by signing in there and saying yes", async () => {
  await inAcme("POST", "/principals", { id: "user:lovelace", title: "Countess", roles: ["admin"] });
  const { url } = await inAcme("POST", "/principals/user:lovelace/invite");
  const other = await open(browser);
  await other.page.goto(url);
  await other.page.getByLabel("Password").fill(PASSWORD);
  await other.page.getByRole("button", { name: "Save and sign in" }).click();
  await other.page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
  expect(await other.page.getByRole("link", { name: "Tenants" }).count(), "others do not run the server").toBe(0);
  await other.context.close();

  await account();
  await page.getByRole("menuitem", { name: "Add another organisation" }).click();
  await page.getByLabel("Its name in addresses").fill("acme");
  await looks("add organisation");
  await page.getByRole("button", { name: "Sign in there" }).click();
  await page.getByLabel("Login").fill("lovelace");
  await page.getByLabel("Password").fill(PASSWORD);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Link two organisations" }).waitFor();
  await page.getByText("lovelace").waitFor();
  await page.getByText("ada", { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Yes, link them" }).click();
  await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
  await here("Acme Ltd");
});

test("switching there and back shows nothing of the other one", async () => {
  const run = await caller(gate, acmeKey)("core__get_current_time", {});
  await page.goto(`${gate.url}/runs?run=${run.call_id}`);
  await page.getByRole("region", { name: "Output" }).waitFor();
  await page.keyboard.press("Escape");
  // Another tab of the same browser, which must not keep what it shows.
  const tab = await watched.context.newPage();
  await tab.goto(`${gate.url}/runs`);
  await tab.getByRole("table", { name: "Runs" }).waitFor();
  await page.bringToFront();
  await account();
  await picture(page, "account menu");
  await page.getByRole("menuitem", { name: "Default" }).click();
  await here("Default");
  await page.getByRole("link", { name: "Tenants" }).waitFor();
  await tab.waitForURL(`${gate.url}/`);
  await tab.close();

  await page.goto(`${gate.url}/runs`);
  await page.getByText("No runs here").waitFor();
  await page.goto(`${gate.url}/runs?run=${run.call_id}`);
  await page.getByText("This run can't be shown").waitFor();
  expect(await page.getByRole("region", { name: "Output" }).count()).toBe(0);
  watched.wrong.splice(0).forEach((line) => expect(line).toMatch(/status of 404/));

  // Back by the palette.
  await page.goto(`${gate.url}/`);
  await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("switch to acme");
  await page.getByRole("option", { name: /Switch to Acme Ltd/ }).waitFor();
  await page.keyboard.press("Enter");
  await here("Acme Ltd");
  await page.goto(`${gate.url}/runs?run=${run.call_id}`);
  await page.getByRole("region", { name: "Output" }).waitFor();
  expect(watched.wrong).toEqual([]);
});

test("both sides see the link, and the person can end it", async () => {
  await page.goto(`${gate.url}/tenant-links`);
  await page.getByRole("region", { name: "Links" }).getByText("user:lovelace").waitFor();
  await looks("tenant links");
  await page.goto(`${gate.url}/organisations`);
  await page.getByRole("list", { name: "Your organisations" }).waitFor();
  await looks("organisations");
  await page.getByRole("button", { name: "Remove…" }).click();
  await page.getByRole("button", { name: "Yes, link us no more" }).click();
  const own = page.getByRole("list", { name: "Your organisations" }).getByRole("listitem");
  await expect.poll(() => own.allTextContents()).toEqual([expect.stringContaining("Acme Ltd")]);
  const links = await fetch(`${gate.url}/api/v1/tenant-links`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  expect((await links.json()).links).toEqual([]);
  expect(watched.wrong).toEqual([]);
});
