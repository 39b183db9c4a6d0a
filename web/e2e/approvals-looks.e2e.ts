import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { launch, looksRight, open, setUp, type Watched, WIDE, WIDTHS } from "./browser";
import { Gate } from "./gate";
import { agent, asPerson, type Caller } from "./people";

const HOSTILE = `<script>window.pwned=1</script><img src=x onerror=window.pwned=1>\u202Egnp.exe\u200B\u200B${"long ".repeat(2000)}`;

let gate: Gate;
let browser: Browser;
let watched: Watched;
let page: Page;
let ledger: { own: Caller; forMe: Caller };
const ids = { transfer: "", destroy: "", doubt: "", hostile: "", decided: "" };

beforeAll(async () => {
  gate = await Gate.start();
  browser = await launch();
  watched = await open(browser);
  page = watched.page;
  await setUp(page, gate);
  ledger = await agent(gate, page, "ledger", ["fixture__transfer", "fixture__destroy", "fixture__stubborn"]);
  ids.transfer = (await ledger.forMe("fixture__transfer", { amount: 4200, to: "Northwind Freight" })).call_id;
  ids.destroy = (await ledger.forMe("fixture__destroy", { effect_id: "customer 17" })).call_id;
  ids.hostile = (await ledger.forMe("fixture__transfer", { amount: 1, to: HOSTILE })).call_id;
  ids.decided = (await ledger.forMe("fixture__transfer", { amount: 7, to: "Halcyon" })).call_id;
  const remember = { arguments: "any", expires_in_seconds: 3600, session_only: true };
  await asPerson(page, "POST", `/invocations/${ids.decided}/approve`, { remember });
  await gate.api("POST", `/invocations/${ids.transfer}/remarks`, { text: "Which invoice is it for?" });
  ids.doubt = await inDoubt();
  watched.wrong.splice(0);
});

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
});

/** A write that does not end in its time: nobody knows whether it happened. */
async function inDoubt(): Promise<string> {
  const { call_id: id } = await ledger.forMe("fixture__stubborn", { milliseconds: 3000 });
  await asPerson(page, "POST", `/invocations/${id}/approve?wait=5`, {});
  return id;
}

const drawer = () => page.getByRole("dialog");
const button = (name: string) => drawer().getByRole("button", { name });

const states: { name: string; path: () => string; make: () => Promise<unknown> }[] = [
  { name: "inbox", path: () => "/approvals", make: () => page.getByRole("link", { name: "Destroy something" }).waitFor() },
  {
    name: "inbox, some chosen",
    path: () => "/approvals",
    make: () => page.getByRole("checkbox", { name: "Choose Moves 4200 to Northwind Freight" }).check(),
  },
  { name: "drawer", path: () => `/approvals?id=${ids.transfer}`, make: () => button("Approve and run").waitFor() },
  { name: "editing", path: () => `/approvals?id=${ids.transfer}`, make: async () => {
    await button("Edit").click();
    await drawer().getByLabel("Amount").waitFor();
  } },
  { name: "denying", path: () => `/approvals?id=${ids.transfer}`, make: () => button("Deny…").click() },
  { name: "remembering", path: () => `/approvals?id=${ids.transfer}`, make: async () => {
    await button("Remember…").click();
    await drawer().getByRole("radio", { name: "These arguments" }).check();
  } },
  { name: "giving", path: () => `/approvals?id=${ids.transfer}`, make: () => button("Give to someone else…").click() },
  { name: "destroying", path: () => `/approvals?id=${ids.destroy}`, make: () => button("Approve and run").click() },
  { name: "in doubt", path: () => `/approvals?tab=in_doubt&id=${ids.doubt}`, make: () => button("Settle").waitFor() },
  { name: "decided", path: () => `/approvals?tab=decided&id=${ids.decided}`, make: () => drawer().getByText("Approved by you").waitFor() },
  { name: "not there", path: () => `/approvals?id=inv_${"0".repeat(32)}`, make: () => drawer().getByText("could not be loaded").waitFor() },
  { name: "hostile words", path: () => `/approvals?id=${ids.hostile}`, make: () => button("Approve and run").waitFor() },
  { name: "grants", path: () => "/grants", make: () => page.getByRole("link", { name: "fixture__transfer" }).waitFor() },
  { name: "grant", path: () => `/grants?id=gnt-${ids.decided.slice(4)}`, make: () => button("Take back…").waitFor() },
];

describe.each(WIDTHS)("%s", (width, viewport) => {
  test.each(states)("$name is right in light and dark", async ({ name, path, make }) => {
    await page.setViewportSize(viewport);
    await page.goto(gate.url + path());
    await make();
    await looksRight(watched, `approvals ${name}`, width);
  });
});

test("words that would be code stay words", async () => {
  await page.setViewportSize(WIDE);
  await page.goto(`${gate.url}/approvals?id=${ids.hostile}`);
  await drawer().getByRole("heading", { level: 2 }).first().waitFor();
  expect(await drawer().getByRole("region", { name: "Input" }).innerText()).toContain("<script>window.pwned=1</script>");
  expect(await page.evaluate(() => (window as { pwned?: unknown }).pwned)).toBeUndefined();
  expect(await page.locator("dialog script, [role=dialog] script, [role=dialog] img").count()).toBe(0);
});

test.each([
  ["It happened", "completed"],
  ["It did not happen", "failed"],
])("a call in doubt is settled: %s", async (word, status) => {
  const id = await inDoubt();
  await page.goto(`${gate.url}/approvals?tab=in_doubt`);
  await page.locator(`[data-approval="${id}"]`).click();
  await drawer().getByRole("radio", { name: new RegExp(`^${word}`) }).check();
  await button("Settle").click();
  await button("Settle").waitFor({ state: "detached" });
  await expect.poll(async () => (await gate.api("GET", `/invocations/${id}`)).body.status).toBe(status);
  watched.wrong.splice(0);
});

test("a call in doubt can be run again", async () => {
  const id = await inDoubt();
  await page.goto(`${gate.url}/approvals?tab=in_doubt&id=${id}`);
  await drawer().getByRole("radio", { name: "Run it again" }).check();
  await button("Settle").click();
  await expect.poll(async () => (await gate.api("GET", `/invocations/${id}`)).body.attempt).toBe(2);
  watched.wrong.splice(0);
});
