import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { launch, open, setUp, violations, type Watched } from "./browser";
import { Gate } from "./gate";

let gate: Gate;
let browser: Browser;
let watched: Watched;
let page: Page;

beforeAll(async () => {
  gate = await Gate.start();
  browser = await launch();
  watched = await open(browser);
  page = watched.page;
});

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
});

const steps = () => page.getByRole("region", { name: /Three minutes to begin|You are set up/ });

test("from an empty install to the first approval", async () => {
  await setUp(page, gate);
  await steps().getByText("0 of 3 done").waitFor();
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/first-run.png` });
  expect(await violations(page)).toEqual([]);

  await steps().getByRole("link", { name: "Calculate a return" }).click();
  await page.getByRole("heading", { level: 1, name: "ROI calculator" }).waitFor();
  const input = { initial_cost: 100_000, years: [{ benefit: 60_000 }, { benefit: 60_000 }] };
  await page.goto(`${gate.url}/tools/core__calculate_roi?${new URLSearchParams({ input: JSON.stringify(input) })}`);
  await page.getByRole("button", { name: /^Run/ }).click();
  await page.getByText("Succeeded").first().waitFor();
  await page.goto(gate.url);
  await steps().getByRole("heading", { name: /Run a calculator.*done/ }).waitFor();

  await steps().getByRole("button", { name: "Make it ask" }).click();
  const drawer = page.getByRole("dialog");
  await drawer.getByRole("button", { name: "Approve and run" }).click();
  await drawer.getByText("Approved by you").waitFor();
  await drawer.getByText("Succeeded").waitFor();
  const setting = (await gate.api("GET", "/registry/core__get_current_time")).body;
  expect(setting.requires_approval, "the clock asks nobody from now on").toBe(false);

  await page.goto(gate.url);
  await steps().getByText("2 of 3 done").waitFor();
  const server = { transport: { kind: "http", url: "http://127.0.0.1:9/mcp" } };
  const added = await gate.api("PUT", "/upstreams/later", server);
  expect(added.status, JSON.stringify(added.body)).toBeLessThan(300);
  await page.reload();
  await page.getByRole("region", { name: "You are set up" }).waitFor();
  await steps().getByRole("button", { name: "Put away" }).click();
  await steps().waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
  expect(await steps().count()).toBe(0);
  expect(watched.wrong).toEqual([]);
});
