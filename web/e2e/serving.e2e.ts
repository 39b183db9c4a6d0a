import { afterAll, beforeAll, expect, test } from "vitest";

import { launch, open, setUp, violations } from "./browser";
import { Gate } from "./gate";

let gate: Gate;
beforeAll(async () => {
  gate = await Gate.start("--fixture-copies", "5000");
});
afterAll(() => gate?.stop());

const ask = (path: string, headers: Record<string, string> = {}) => fetch(gate.url + path, { headers, redirect: "manual" });
const browserLike = { accept: "text/html,*/*" };

test("every page is the one page, under a policy that lets no script in", async () => {
  for (const path of ["/", "/runs", "/tools/core__x", "/anything/else"]) {
    const answer = await ask(path, browserLike);
    expect(answer.status, path).toBe(200);
    const policy = answer.headers.get("content-security-policy")!;
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe-eval");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(await answer.text()).not.toMatch(/<script>|<script [^>]*>[^<]|\son\w+=/);
  }
});

test("assets are kept for a year, packed, and missing ones are missing", async () => {
  const html = await (await ask("/", browserLike)).text();
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)![1]!;
  const answer = await ask(script, { "accept-encoding": "gzip" });
  expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(answer.headers.get("content-encoding")).toBe("gzip");
  expect(answer.headers.get("content-type")).toContain("text/javascript");
  for (const path of ["/assets/none.js", "/assets/", "/assets/../index.html", "/assets/..%2findex.html"]) {
    expect((await ask(path)).headers.get("cache-control"), path).not.toContain("immutable");
  }
  expect((await ask("/assets/none.js", browserLike)).status).toBe(404);
});

test("what programs ask for and is not there is an error in JSON", async () => {
  for (const [path, headers] of [["/api/v1/nothing", browserLike], ["/api", browserLike], ["/mcp/x/y", browserLike], ["/nothing", {}]] as const) {
    const answer = await ask(path, headers);
    expect(answer.status, path).toBe(404);
    expect((await answer.json()).error.code, path).toBe("not_found");
  }
});

test("the shell is small", async () => {
  const html = await (await ask("/", browserLike)).text();
  const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1]!);
  let size = 0;
  for (const file of files) size += Number((await ask(file, { "accept-encoding": "gzip" })).headers.get("content-length"));
  console.info(`the shell: ${Math.round(size / 1024)} kB packed, in ${files.length} files`);
  expect(size).toBeLessThanOrEqual(150 * 1024);
});

test("five thousand tools: few of them are drawn, and all are found", async () => {
  const browser = await launch();
  try {
    const { page, wrong } = await open(browser);
    await setUp(page, gate);
    await page.getByRole("article").first().waitFor();
    expect(Number(await page.getByRole("listitem").filter({ has: page.getByRole("article") }).first().getAttribute("aria-setsize"))).toBeGreaterThan(5000);
    expect(await page.getByRole("article").count()).toBeLessThan(60);
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight / 2));
    await page.getByRole("article").first().waitFor();
    expect(await page.getByRole("article").count()).toBeLessThan(60);
    await page.getByLabel("Search tools").fill("roi calcualtor");
    await page.getByRole("link", { name: "ROI calculator" }).waitFor();

    await page.goto(`${gate.url}/registry`);
    const table = page.getByRole("table");
    await table.getByRole("row").nth(10).waitFor();
    const rows = Number(await table.getAttribute("aria-rowcount"));
    expect(rows).toBeGreaterThan(5000);
    expect(await table.getByRole("row").count()).toBeLessThan(60);
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
    // The last of them is drawn, and the room above it is what the others take.
    await table.locator(`[aria-rowindex="${rows}"]`).waitFor();
    expect(await table.getByRole("row").count()).toBeLessThan(60);
    expect(await violations(page)).toEqual([]);
    await page.evaluate(() => window.scrollTo(0, 0));
    const first = () => table.locator('[aria-rowindex="2"]').getByRole("link").textContent();
    const before = await first();
    await table.getByRole("button", { name: "Tool" }).click();
    await table.getByRole("button", { name: "Tool" }).click();
    await expect.poll(first).not.toBe(before);
    expect(wrong).toEqual([]);
  } finally {
    await browser.close();
  }
});
