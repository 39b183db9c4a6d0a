import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { launch, open, setUp, type Watched, WIDTHS } from "./browser";
import { Gate } from "./gate";
import { govern, offer, Scripted } from "./governed";

/** Pages, and what is on each when all of it has come. */
const pages: [path: string, words: string][] = [
  ["/", "ROI calculator"],
  ["/tools/core__calculate_roi", "What is paid at the start."],
  ["/tools/core__calculate_roi?call={call}", "Net present value"],
  ["/tools/fixture__always_ask?call={pending}", "to decide before it runs"],
  ["/runs", "ROI calculator"],
  ["/runs?run={call}", "What happened"],
  ["/approvals?tab=group", "Always ask"],
  ["/approvals?id={pending}", "Requested by"],
  ["/usage", "By tool"],
  ["/upstreams?server=notes", "Answers in"],
  ["/registry?id=core__calculate_roi", "In your tenant"],
  ["/policy", "It could be saved"],
  ["/audit", "core__calculate_roi"],
];

let gate: Gate;
let browser: Browser;
let watched: Watched;
let scripted: Scripted;
const made = { call: "", pending: "" };

beforeAll(async () => {
  gate = await Gate.start();
  browser = await launch();
  watched = await open(browser);
  await setUp(watched.page, gate);
  await govern(gate);
  scripted = new Scripted([offer("search", "Finds notes by a word.")]);
  await scripted.add(gate, "notes");
  const input = { initial_cost: 100_000, years: [{ benefit: 40_000 }, { benefit: 60_000 }], horizon_years: 4 };
  made.call = (await gate.api("POST", "/tools/core__calculate_roi/invoke", { input })).body.call_id;
  made.pending = (await gate.api("POST", "/tools/fixture__always_ask/invoke?wait=0", { input: { effect_id: "shown" } })).body.call_id;
  // Every answer takes a while, and not the same while, so that the parts of a page come one by one.
  let turn = 0;
  await watched.page.route("**/api/v1/**", async (route) => {
    turn += 1;
    await new Promise((resolve) => setTimeout(resolve, 100 + (turn % 4) * 100));
    await route.continue().catch(() => undefined);
  });
  // What moves by itself, as the browser counts it: its share of the screen times how far it went.
  await watched.page.addInitScript(() => {
    const seen = window as unknown as { jumps: { value: number; what: string[] }[] };
    seen.jumps = [];
    type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean; sources: { node: Element | null; previousRect: DOMRect; currentRect: DOMRect }[] };
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries() as Shift[]) {
        if (hadRecentInput) continue;
        const what = sources.map(({ node, previousRect, currentRect }) => `${node?.outerHTML?.slice(0, 100)} from ${Math.round(previousRect.y)} to ${Math.round(currentRect.y)}`);
        seen.jumps.push({ value, what });
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
});

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
  scripted?.end();
});

describe.each(WIDTHS)("%s", (_, viewport) => {
  test.each(pages)("%s comes without a jump", async (path, words) => {
    const { page } = watched;
    await page.setViewportSize(viewport);
    await page.goto(gate.url + path.replace("{call}", made.call).replace("{pending}", made.pending));
    await page.getByText(words).first().waitFor();
    // Live pages are never still for good.
    await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => undefined);
    const jumps = await page.evaluate(() => (window as unknown as { jumps: { value: number; what: string[] }[] }).jumps);
    const sum = jumps.reduce((total, { value }) => total + value, 0);
    // A tenth is where people begin to notice; what is drawn here keeps well below.
    expect(sum, JSON.stringify(jumps, null, 2)).toBeLessThan(0.05);
  });
});
