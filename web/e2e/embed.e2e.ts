import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { launch, NARROW, open, violations, type Watched, WIDE } from "./browser";
import { Gate } from "./gate";
import { type Caller, caller } from "./people";

const shots = process.env.SHOTS;
const PICTURE = picture(96, 64);

const requests = {
  questions: {
    title: "A few questions <b>before</b> we start",
    instructions: "Be brief.\n\n<script>window.pwned=1</script>",
    questions: [
      { id: "name", label: "Your name", required: true },
      { id: "age", label: "Your age", kind: "number" },
      { id: "more", label: "Anything else", kind: "long_text" },
    ],
  },
  choose: {
    title: "Which cover?",
    choose: {
      several: true,
      options: [
        { id: "bold", label: "Bold", description: "Loud and large", image: PICTURE },
        { id: "quiet", label: "Quiet", image: PICTURE },
        { id: "none", label: "Neither" },
      ],
    },
  },
  markup: { title: "What should change?", markup: { image: PICTURE } },
  approve: { title: "One last look", approve: { statement: "Shall we publish the autumn report on Monday?" } },
};

let gate: Gate;
let browser: Browser;
let watched: Watched;
let page: Page;
let ask: Caller;

beforeAll(async () => {
  gate = await Gate.start();
  browser = await launch();
  watched = await open(browser);
  page = watched.page;
  ask = caller(gate);
});

afterEach(() => expect(watched.wrong.splice(0)).toEqual([]));

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
});

async function link(kind: keyof typeof requests): Promise<{ url: string; answers: () => Promise<unknown> }> {
  const { share_url: url, call_id: id } = await ask("core__request_input", requests[kind]);
  return { url, answers: async () => (await gate.api("GET", `/invocations/${id}`)).body.output?.answers };
}

/** A picture in one colour, as a `data:` address. */
function picture(width: number, height: number): string {
  const chunk = (kind: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(kind), data]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, 0xb4)]);
  const rows = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const png = Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))]);
  return `data:image/png;base64,${png.toString("base64")}`;
}

const send = () => page.getByRole("button", { name: "Send" }).click();
const thanked = () => page.getByRole("heading", { name: "Thank you" }).waitFor();

test("questions are answered, and words that would be code stay words", async () => {
  const { url, answers } = await link("questions");
  await page.goto(url);
  await page.getByText("<script>window.pwned=1</script>").waitFor();
  expect(await page.evaluate(() => (window as { pwned?: unknown }).pwned)).toBeUndefined();
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("Your age").fill("36.5");
  await send();
  await thanked();
  expect(await answers()).toEqual({ name: "Ada", age: 36.5 });
  await page.goto(url);
  await page.getByRole("heading", { name: "This link does not work" }).waitFor();
  watched.wrong.splice(0).forEach((line) => expect(line).toMatch(/status of 404/));
});

test("what can't be sent is kept, and sent again", async () => {
  const { url, answers } = await link("questions");
  await page.goto(url);
  await page.getByLabel("Your name").fill("Ada");
  await page.route("**/api/v1/input-requests/*", (route) => route.abort());
  await send();
  await page.getByRole("alert").filter({ hasText: "can't be reached" }).waitFor();
  await page.unroute("**/api/v1/input-requests/*");
  expect(await page.getByLabel("Your name").inputValue()).toBe("Ada");
  await send();
  await thanked();
  expect(await answers()).toEqual({ name: "Ada" });
  watched.wrong.splice(0).forEach((line) => expect(line).toMatch(/ERR_FAILED/));
});

test("options with images are chosen; none is no answer", async () => {
  const { url, answers } = await link("choose");
  await page.goto(url);
  const widths = await page.locator(".card img").evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth));
  expect(widths, "the policy lets the pictures in").toEqual([96, 96]);
  await send();
  await page.getByRole("alert").filter({ hasText: "Choose from the options" }).waitFor();
  watched.wrong.splice(0).forEach((line) => expect(line).toMatch(/status of 400/));
  await page.getByRole("checkbox", { name: /Bold/ }).check();
  await page.getByRole("checkbox", { name: /Neither/ }).check();
  await send();
  await thanked();
  expect(await answers()).toEqual({ chosen: ["bold", "none"] });
});

test("an image is commented on by pointing at it, and by keyboard", async () => {
  const { url, answers } = await link("markup");
  await page.goto(url);
  const image = page.getByRole("img", { name: "The image to comment on" });
  const box = (await image.boundingBox())!;
  await image.click({ position: { x: box.width / 4, y: box.height / 2 } });
  await page.keyboard.type("Too red here");
  await page.getByRole("button", { name: "Add a comment" }).press("Enter");
  await page.keyboard.type("And darker");
  const pin = page.getByRole("button", { name: /^Comment 2,/ });
  await pin.focus();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
  await page.getByRole("button", { name: "Add a comment" }).click();
  await page.getByRole("button", { name: "Remove comment 3" }).click();
  await send();
  await thanked();
  const { notes } = (await answers()) as { notes: { x: number; y: number; text: string }[] };
  expect(notes.map(({ text }) => text)).toEqual(["Too red here", "And darker"]);
  expect(notes[0]!.x).toBeCloseTo(25, 0);
  expect([notes[1]!.x, notes[1]!.y]).toEqual([52, 49]);
});

test("a statement is agreed to or not", async () => {
  const { url, answers } = await link("approve");
  await page.goto(url);
  await page.getByRole("radio", { name: "No" }).check();
  await page.getByLabel(/Anything to add/).fill("Not before Tuesday.");
  await send();
  await thanked();
  expect(await answers()).toEqual({ approved: false, notes: "Not before Tuesday." });
});

test("it works without a script too", async () => {
  const { url, answers } = await link("markup");
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(url);
  await plain.getByLabel("What").first().fill("Too red");
  await plain.getByLabel("From the left, in percent").first().fill("10");
  await plain.getByRole("button", { name: "Send" }).click();
  await plain.getByRole("heading", { name: "Thank you" }).waitFor();
  expect(await answers()).toEqual({ notes: [{ text: "Too red", x: 10 }] });
  await context.close();
});

describe.each([
  ["wide", WIDE],
  ["narrow", NARROW],
])("%s", (width, viewport) => {
  test.each(Object.keys(requests) as (keyof typeof requests)[])("%s is right in light and dark", async (kind) => {
    const { url } = await link(kind);
    await page.setViewportSize(viewport);
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.goto(url);
      if (kind === "markup") await page.getByRole("button", { name: "Add a comment" }).click();
      if (shots) {
        mkdirSync(shots, { recursive: true });
        await page.screenshot({ path: join(shots, `embed-${kind}-${width}-${scheme}.png`), fullPage: true });
      }
      expect(await violations(page), scheme).toEqual([]);
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(sideways, "the page scrolls sideways").toBeLessThanOrEqual(0);
    }
    expect([...watched.hosts]).toEqual([new URL(gate.url).host]);
  });
});
