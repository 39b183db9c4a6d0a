import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { launch, looksRight, open, picture, setUp, signIn, violations, type Watched, WIDTHS } from "./browser";
import { Gate } from "./gate";
import { looks } from "./pages";

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

describe.each(WIDTHS)("%s", (width, viewport) => {
  test.each(looks)("$name is right in light and dark", async ({ name, path, ready }) => {
    const { page } = watched;
    await page.setViewportSize(viewport);
    await page.goto(gate.url + path.replace("{call}", ids.call).replace("{pending}", ids.pending));
    await ready(page);
    await page.waitForLoadState("load");
    await looksRight(watched, name, width);
  });
});

test("signing in looks right too", async () => {
  const { page, context, wrong } = await open(browser);
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const [width, viewport] of WIDTHS) {
      await page.setViewportSize(viewport);
      await page.goto(`${gate.url}/sign-in`);
      await picture(page, "sign-in", width, scheme);
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
