import { mkdirSync } from "node:fs";
import { join } from "node:path";

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { launch, NARROW, open, setUp, signIn, sticksOut, theme, violations, type Watched, WIDE } from "./browser";
import { Gate } from "./gate";
import { looks } from "./pages";

// Where to keep pictures for people to look at; none are kept unless asked for.
const shots = process.env.SHOTS;

let gate: Gate;
let browser: Browser;
let watched: Watched;
const ids = { call: "", pending: "" };

beforeAll(async () => {
  gate = await Gate.start();
  browser = await launch();
  watched = await open(browser);
  await setUp(watched.page, gate);
  const input = { initial_cost: 100_000, years: [{ benefit: 40_000 }, { benefit: 60_000 }], horizon_years: 4 };
  ids.call = (await gate.api("POST", "/tools/core__calculate_roi/invoke", { input })).body.call_id;
  ids.pending = (await gate.api("POST", "/tools/fixture__always_ask/invoke", { input: { effect_id: "shown" } })).body.call_id;
});

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
});

describe.each([
  ["wide", WIDE],
  ["narrow", NARROW],
])("%s", (width, viewport) => {
  test.each(looks)("$name is right in light and dark", async ({ name, path, ready }) => {
    const { page, wrong } = watched;
    await page.setViewportSize(viewport);
    await page.goto(gate.url + path.replace("{call}", ids.call).replace("{pending}", ids.pending));
    await ready(page);
    await page.waitForLoadState("load");
    for (const which of ["light", "dark"] as const) {
      await theme(page, which);
      if (shots) {
        mkdirSync(shots, { recursive: true });
        await page.screenshot({ path: join(shots, `${name.replaceAll(/[^a-z]+/g, "-")}-${width}-${which}.png`) });
      }
      expect(await violations(page), `${name}, ${which}`).toEqual([]);
    }
    expect(await sticksOut(page)).toEqual([]);
    // What is not there answers 404, and browsers say so by themselves.
    const expected = /status of (404|403)/;
    expect(wrong.splice(0).filter((line) => !expected.test(line))).toEqual([]);
  });
});

test("signing in looks right too", async () => {
  const { page, context, wrong } = await open(browser);
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const viewport of [WIDE, NARROW]) {
      await page.setViewportSize(viewport);
      await page.goto(`${gate.url}/sign-in`);
      if (shots) await page.screenshot({ path: join(shots, `sign-in-${viewport.width}-${scheme}.png`) });
      expect(await violations(page)).toEqual([]);
    }
  }
  await signIn(page);
  await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
  expect(wrong).toEqual([]);
  await context.close();
});

test("nothing is asked of another host", () => {
  expect([...watched.hosts]).toEqual([new URL(gate.url).host]);
});
