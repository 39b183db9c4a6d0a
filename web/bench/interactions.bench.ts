import { writeFileSync } from "node:fs";

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";

import { launch, open, setUp } from "../e2e/browser";
import { Gate } from "../e2e/gate";

import { fill } from "./rows";
import { type Answer, framesWhileScrolling, installStopwatch, timed } from "./stopwatch";

const TOOLS = Number(process.env.BENCH_TOOLS ?? 5_000);
const RUNS = Number(process.env.BENCH_RUNS ?? 100_000);

let gate: Gate;
let browser: Browser;
let page: Page;
const lines: string[] = [];

beforeAll(async () => {
  gate = await Gate.start("--fixture-copies", String(TOOLS));
  await fill(gate, RUNS);
  browser = await launch();
  ({ page } = await open(browser));
  await installStopwatch(page);
  await setUp(page, gate);
});

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
  const text = [
    `### In the browser (${TOOLS.toLocaleString("en")} tools, ${RUNS.toLocaleString("en")} runs)`,
    "",
    "| page | what a person does | times | next picture, median | worst | all of the answer, median | worst |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...lines,
    "",
  ].join("\n");
  process.stdout.write(`\n${text}\n`);
  if (process.env.BENCH_OUT) writeFileSync(process.env.BENCH_OUT, text);
});

const ms = (time: number) => `${Math.round(time)} ms`;
const at = (times: number[], share: number) => [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;

function say(where: string, what: string, answers: Answer[]): void {
  const next = answers.map((answer) => answer.next);
  // Where nothing followed, the next picture was all of it.
  const done = answers.map((answer) => Math.max(answer.done, answer.next));
  // The browser reports nothing that took less than 16 ms.
  const shown = (time: number) => (time === 0 ? "< 16 ms" : ms(time));
  const parts = [where, what, answers.length, shown(at(next, 0.5)), shown(Math.max(...next)), shown(at(done, 0.5)), shown(Math.max(...done))];
  lines.push(`| ${parts.join(" | ")} |`);
}

function sayFrames(where: string, frames: number[]): void {
  const slow = frames.filter((frame) => frame > 50).length;
  lines.push(`| ${where} | scroll (${frames.length} frames, ${slow} over 50 ms) | ${frames.length} | ${ms(at(frames, 0.5))} | ${ms(Math.max(...frames))} | | |`);
}

async function typed(text: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const letter of text) answers.push(await timed(page, () => page.keyboard.press(letter === " " ? "Space" : letter)));
  return answers;
}

async function each(times: number, act: (time: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let time = 0; time < times; time += 1) answers.push(await act(time));
  return answers;
}

test("the library", async () => {
  await page.goto(gate.url);
  await page.getByRole("article").first().waitFor();
  await page.getByLabel("Search tools").focus();
  say("Tools", "type a letter of a search", await typed("current tiem copy 42"));
  say("Tools", "take a letter away", await each(10, () => timed(page, () => page.keyboard.press("Backspace"))));
  await page.keyboard.press("Escape");
  await page.waitForTimeout(600);
  const chips = page.getByRole("group", { name: "Category" }).getByRole("button");
  say("Tools", "choose a category", await each(6, (time) => timed(page, () => chips.nth(time % 2 === 0 ? 1 : 0).click())));
  say("Tools", "open a filter", await each(4, async () => {
    const answer = await timed(page, () => page.getByRole("button", { name: "Effect" }).click());
    await page.keyboard.press("Escape");
    await page.waitForTimeout(100);
    return answer;
  }));
  await page.getByRole("button", { name: "Effect" }).click();
  const reads = page.getByRole("menuitemcheckbox", { name: /Reads/ });
  say("Tools", "choose in a filter", await each(6, () => timed(page, () => reads.click())));
  await page.keyboard.press("Escape");
  await page.mouse.move(700, 600);
  sayFrames("Tools", await framesWhileScrolling(page, 120, 600));
  say("Tools", "open the palette", await each(4, async () => {
    const answer = await timed(page, () => page.keyboard.press("Control+k"));
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    return answer;
  }));
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  say("Palette", "type a letter", await typed("roi calcualtor"));
  await page.keyboard.press("Escape");
  await page.goto(gate.url);
  say("Tools", "open a tool", await each(4, async () => {
    const card = page.getByRole("article").first();
    await card.waitFor();
    const answer = await timed(page, () => card.getByRole("link").click());
    await page.goBack();
    return answer;
  }));
});

test("the registry", async () => {
  await page.goto(`${gate.url}/registry`);
  await page.getByRole("region", { name: "Tools of the server" }).waitFor();
  await page.getByLabel("Search tools").focus();
  say("Registry", "type a letter of a search", await typed("current_time"));
  await page.getByLabel("Search tools").fill("");
  await page.waitForTimeout(300);
  say("Registry", "open a tool", await each(4, async () => {
    const answer = await timed(page, () => page.getByRole("region", { name: "Tools of the server" }).getByRole("link").first().click());
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    return answer;
  }));
  await page.mouse.move(700, 600);
  sayFrames("Registry", await framesWhileScrolling(page, 60, 400));
});

test("the runs", async () => {
  await page.goto(`${gate.url}/runs`);
  const table = page.getByRole("table", { name: "Runs" });
  await table.getByRole("link").first().waitFor();
  say("Runs", "open a run", await each(6, async (time) => {
    const answer = await timed(page, () => table.getByRole("link").nth(time).click());
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    return answer;
  }));
  await page.mouse.move(700, 600);
  sayFrames("Runs", await framesWhileScrolling(page, 300, 500));
  say("Runs", "open a run far down", await each(4, async (time) => {
    const answer = await timed(page, () => table.getByRole("link").nth(10 + time).click());
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    return answer;
  }));
  await page.evaluate(() => window.scrollTo(0, 0));
  const status = page.getByLabel("Status");
  await status.focus();
  say("Runs", "choose a status", await each(4, () => timed(page, () => page.keyboard.press("ArrowDown"), 400)));
  await page.goto(`${gate.url}/runs`);
  await table.getByRole("link").first().waitFor();
  await page.getByLabel("Search the inputs").focus();
  say("Runs", "type a letter of a search", await typed("Nowhere"));
  say("Runs", "find what is nowhere", await each(1, () => timed(page, () => page.keyboard.press("x"), 1500)));
});
