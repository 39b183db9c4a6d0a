import { execSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { expect } from "vitest";

import { type Gate, LOGIN, PASSWORD } from "./gate";

const executablePath = process.env.CHROMIUM ?? execSync("command -v chromium", { shell: "/bin/sh" }).toString().trim();
const args = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

export const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 390, height: 844 };

/** Both widths, with their names: `describe.each(WIDTHS)`. */
export const WIDTHS = [
  ["wide", WIDE],
  ["narrow", NARROW],
] as const;

export const launch = (): Promise<Browser> => chromium.launch({ executablePath, args });

/** A page that remembers everything that went wrong in it, and every host it asked. */
export type Watched = { page: Page; context: BrowserContext; wrong: string[]; hosts: Set<string> };

export async function open(browser: Browser, viewport = WIDE): Promise<Watched> {
  const context = await browser.newContext({
    viewport,
    reducedMotion: "reduce",
    colorScheme: "light",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const wrong: string[] = [];
  const hosts = new Set<string>();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`page: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http")) hosts.add(url.host);
  });
  page.setDefaultTimeout(20_000);
  return { page, context, wrong, hosts };
}

/** Uses the set-up link: makes the first administrator and signs in. */
export async function setUp(page: Page, gate: Gate): Promise<void> {
  await page.goto(gate.setUpLink);
  await page.getByLabel("Login").fill(LOGIN);
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create and sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
}

export async function signIn(page: Page): Promise<void> {
  await page.getByLabel("Login").fill(LOGIN);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Goes to something as one does without a mouse; fails when Tab never gets there. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let step = 0; step < 80; step += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not get to ${target}`);
}

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe finds in the page and the frames of it, one line each. */
export async function violations(page: Page): Promise<string[]> {
  // Put in by hand: the ready-made builder opens a second page for every look, which takes four times as long.
  for (const frame of page.frames()) {
    if (!(await frame.evaluate(() => "axe" in window))) await frame.evaluate(axe.source);
  }
  const found = await page.evaluate(async (values) => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] });
    return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ target, html, failureSummary }) => ({ target, html, failureSummary })) }));
  }, tags);
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}\n    ${node.target.join(" ")}\n    ${node.html.slice(0, 240)}\n    ${node.failureSummary?.split("\n")[1] ?? ""}`),
  );
}

export async function theme(page: Page, which: "light" | "dark"): Promise<void> {
  await page.evaluate((chosen) => {
    localStorage.setItem("toolgate.theme", chosen);
    document.documentElement.dataset.theme = chosen;
    // Drawn anew before anyone looks.
    return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  }, which);
}

/** What sticks out of the page, so that it scrolls sideways. */
export function sticksOut(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const all = [...document.body.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > clientWidth + 1);
    return all.slice(0, 5).map((one) => one.outerHTML.slice(0, 160));
  });
}

/** Keeps a picture for people to look at, where SHOTS names a folder; none are kept otherwise. */
export async function picture(page: Page, ...words: (string | number)[]): Promise<void> {
  const folder = process.env.SHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${words.join("-").toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.png`) });
}

/** What is drawn now is right in light and in dark, does not scroll sideways, and nothing went wrong on the way here. */
export async function looksRight({ page, wrong }: Watched, name: string, width: string): Promise<void> {
  for (const which of ["light", "dark"] as const) {
    await theme(page, which);
    await picture(page, name, width, which);
    expect(await violations(page), `${name}, ${which}`).toEqual([]);
  }
  expect(await sticksOut(page), "the page scrolls sideways").toEqual([]);
  // What is not there answers 404, and browsers say so by themselves.
  expect(wrong.splice(0).filter((line) => !/status of 404/.test(line))).toEqual([]);
}
