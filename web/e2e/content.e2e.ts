import { readFileSync } from "node:fs";

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { open, picture, violations, WIDTHS } from "./browser";
import { accept, answers, Scripted } from "./governed";
import { asPerson } from "./people";
import { browser, gate, page } from "./stage";

const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
const structured = { total: 1, rows: [{ name: "*starred*" }] };
const scripted = new Scripted([
  answers("media", {
    content: [
      { type: "text", text: "Here is **the chart**." },
      { type: "image", mimeType: "image/png", data: DOT },
      { type: "audio", mimeType: "audio/wav", data: SILENCE },
      { type: "resource", resource: { uri: "file:///reports/autumn.txt.gz", mimeType: "application/gzip", blob: Buffer.from("autumn").toString("base64") } },
    ],
  }),
  answers("structure", { content: [{ type: "text", text: JSON.stringify(structured) }], structuredContent: structured }),
  answers("failure", { isError: true, content: [{ type: "text", text: "Traceback:\n  line 3\nValueError: tea" }] }),
]);

beforeAll(async () => {
  await scripted.add(gate, "notes");
  for (const tool of ["media", "structure", "failure"]) await accept(gate, `mcp__notes__${tool}`);
});

afterAll(() => scripted.end());

const run = async (tool: string): Promise<string> => (await asPerson(page, "POST", `/tools/mcp__notes__${tool}/invoke?wait=5`, { input: {} })).call_id;

/** The picture is drawn and the sound can be played: nothing that the page's policy refuses. */
async function shows(place: Page): Promise<void> {
  await place.getByText("the chart", { exact: true }).waitFor();
  await expect.poll(() => place.getByRole("img", { name: "Result" }).evaluate((drawn) => (drawn as HTMLImageElement).naturalWidth)).toBe(1);
  await expect.poll(() => place.locator("audio").evaluate((sound) => (sound as HTMLAudioElement).readyState)).toBeGreaterThan(0);
  expect(await place.getByText(DOT.slice(0, 40)).filter({ visible: true }).count()).toBe(0);
}

test("pictures, sounds and files of a server are shown as what they are, wherever a run is", async () => {
  const id = await run("media");
  await page.goto(`${gate.url}/tools/mcp__notes__media?call=${id}`);
  await shows(page);
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save autumn.txt.gz" }).click()]);
  expect([saved.suggestedFilename(), readFileSync(await saved.path(), "utf8")]).toEqual(["autumn.txt.gz", "autumn"]);
  for (const path of [`/tools/mcp__notes__media?call=${id}`, `/runs?run=${id}`]) {
    for (const [width, viewport] of WIDTHS) {
      await page.setViewportSize(viewport);
      await page.goto(gate.url + path);
      await shows(page);
      await picture(page, "content", path, width);
      expect(await violations(page), `${path}, ${width}`).toEqual([]);
    }
  }
  const { url } = await asPerson(page, "POST", `/invocations/${id}/shares`, { expires_in_seconds: 3600 });
  const stranger = await open(browser);
  await stranger.page.goto(url);
  await shows(stranger.page);
  expect(stranger.wrong).toEqual([]);
  await stranger.context.close();
});

test("a structure that comes twice is shown once, as it is written", async () => {
  const id = await run("structure");
  for (const path of [`/tools/mcp__notes__structure?call=${id}`, `/runs?run=${id}`]) {
    await page.goto(gate.url + path);
    await page.getByRole("region", { name: "Structured result" }).waitFor();
    expect(await page.getByText("*starred*").count(), path).toBe(1);
  }
});

test("a failure is told once, in its server's own lines", async () => {
  const id = (await gate.api("POST", "/tools/mcp__notes__failure/invoke?wait=5", { input: {} })).body.call_id;
  await page.goto(`${gate.url}/tools/mcp__notes__failure?call=${id}`);
  expect(await page.getByRole("region", { name: "What it says" }).innerText()).toBe("Traceback:\n  line 3\nValueError: tea");
  expect(await page.getByText("ValueError: tea").count()).toBe(1);
});
