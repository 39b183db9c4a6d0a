import type { Page } from "playwright-core";
import { afterEach, beforeAll, expect, test } from "vitest";

import { open, picture, sticksOut, violations, type Watched, WIDTHS } from "./browser";
import { asPerson } from "./people";
import { browser, gate, page } from "./stage";

/** Someone who is not signed in anywhere. */
let stranger: Watched;

beforeAll(async () => {
  stranger = await open(browser);
});

afterEach(() => {
  expect(stranger.wrong.splice(0)).toEqual([]);
});

const run = async (tool: string, input: unknown): Promise<string> =>
  (await asPerson(page, "POST", `/tools/${tool}/invoke?wait=5`, { input })).call_id;

const SCORES = {
  items: [
    { name: "Invoices", scores: { impact: 8, ease: 3 } },
    { name: "<script>window.pwned=1</script>", scores: { impact: 2, ease: 9 } },
  ],
};

/** Opens the run's drawer, and in it what shares it. */
async function sharing(id: string) {
  await page.goto(`${gate.url}/runs?run=${id}`);
  await page.getByRole("button", { name: "Share" }).click();
  return page.getByRole("dialog", { name: "Share this run" });
}

/** What is drawn now is right in light and dark, wide and narrow. */
async function looksRight(shown: Page, name: string): Promise<void> {
  for (const [width, viewport] of WIDTHS) {
    await shown.setViewportSize(viewport);
    for (const scheme of ["dark", "light"] as const) {
      await shown.emulateMedia({ colorScheme: scheme });
      // What a script draws hears of it a moment later.
      await shown.waitForFunction(
        (scheme) => [...document.querySelectorAll<HTMLElement>("[data-theme]")].every((drawn) => drawn.dataset.theme === scheme),
        scheme,
      );
      await picture(shown, "share", name, width, scheme);
      expect(await violations(shown), `${name}, ${width}, ${scheme}`).toEqual([]);
    }
    expect(await sticksOut(shown), `${name}, ${width}`).toEqual([]);
  }
  await shown.setViewportSize(WIDTHS[0][1]);
}

test("a run is shown to a stranger by a link, until it is revoked", async () => {
  const id = await run("core__get_current_time", { timezone: "Europe/Berlin" });
  const box = await sharing(id);
  await box.getByLabel("Works for").selectOption({ label: "a day" });
  await box.getByRole("button", { name: "Make a link" }).click();
  const link = box.getByRole("region", { name: "The link" });
  const url = (await link.locator("code").textContent())!;
  expect(url).toMatch(/\/share\/[0-9a-f]{64}$/);
  await link.getByRole("button", { name: "Copy the link" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(url);
  await picture(page, "share", "box");
  expect(await violations(page)).toEqual([]);

  const answer = await stranger.page.goto(url);
  expect(answer!.headers()).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer", "x-robots-tag": expect.stringContaining("noindex") });
  await stranger.page.getByText("Succeeded").waitFor();
  await stranger.page.getByText("Ada", { exact: true }).waitFor();
  const shown = (await stranger.page.locator("main").textContent())!;
  expect(shown).toContain("Europe/Berlin");
  for (const secret of [id, "ses_", "user:ada", "core__get_current_time"]) expect(shown).not.toContain(secret);
  expect(await stranger.page.getByRole("link").count()).toBe(0);
  expect([...stranger.hosts]).toEqual([new URL(gate.url).host]);
  await looksRight(stranger.page, "run");

  await box.getByRole("button", { name: /^Revoke the link/ }).click();
  await box.getByText("No link to this run works.").waitFor();
  expect((await stranger.page.goto(url))!.status()).toBe(404);
  await stranger.page.getByRole("heading", { name: "This link does not work" }).waitFor();
  stranger.wrong.splice(0).forEach((line) => expect(line).toMatch(/status of 404/));
  await looksRight(stranger.page, "gone");
});

test("the output is drawn as the tool wants it, and words that would be code stay words", async () => {
  const { items: tools } = { items: (await gate.api("GET", "/tools?limit=1000")).body.tools as { id: string }[] };
  expect(tools.some((tool) => tool.id === "core__quick_score")).toBe(true);
  const example = (await gate.api("GET", "/tools/core__quick_score")).body.input_schema.examples?.[0] ?? SCORES;
  const id = await run("core__quick_score", example);
  const { url } = await asPerson(page, "POST", `/invocations/${id}/shares`);
  await stranger.page.goto(url);
  // Inside the drawn part: titles of sections, which plain text has not.
  await stranger.page.locator("[data-output] h3").first().waitFor();
  await looksRight(stranger.page, "output");
  expect(await stranger.page.evaluate(() => "pwned" in window)).toBe(false);
});

test("without a script the page says the same", async () => {
  const id = await run("core__get_current_time", {});
  const { url } = await asPerson(page, "POST", `/invocations/${id}/shares`);
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const shown = await plain.newPage();
  await shown.goto(url);
  await shown.getByRole("heading", { name: "Output" }).waitFor();
  await shown.getByText(/UTC/).first().waitFor();
  await plain.close();
});
