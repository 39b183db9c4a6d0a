import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { launch, NARROW, open, setUp, sticksOut, violations, type Watched, WIDE } from "./browser";
import { Gate } from "./gate";

const HOSTILE = `<script>document.title="taken"</script><img src=x onerror="document.title='taken'"> \u202Eesrever\u202C zero\u200Bwidth`;

/** Every kind of field a schema can ask for. */
const everything = {
  type: "object",
  required: ["title", "depth", "criteria", "period"],
  additionalProperties: false,
  properties: {
    title: { type: "string", minLength: 1, maxLength: 100, title: "Review title", description: "Shown on the report." },
    notes: { type: "string", maxLength: 4000 },
    day: { type: "string", format: "date" },
    mail: { type: "string", format: "email" },
    depth: { enum: ["quick", "standard", "deep"], default: "standard" },
    currency: { enum: ["eur", "usd", "gbp", "chf", "sek"] },
    budget: { type: "number", minimum: 0 },
    count: { type: "integer", default: 3 },
    incidents: { type: "boolean", description: "Adds incidents to the score." },
    severity: { enum: ["low", "high"] },
    tags: { type: "array", uniqueItems: true, items: { enum: ["new", "urgent"] } },
    names: { type: "array", items: { type: "string" } },
    criteria: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        title: "Criterion",
        required: ["name"],
        properties: { name: { type: "string" }, weight: { type: "number", default: 1 } },
      },
    },
    period: {
      title: "Period",
      oneOf: [
        { title: "Quarter", type: "object", required: ["quarter"], properties: { quarter: { enum: ["Q1", "Q2"] } } },
        { title: "Date range", type: "object", required: ["from"], properties: { from: { type: "string", format: "date" } } },
      ],
    },
    contact: { $ref: "#/$defs/person" },
    extra: { type: "object", additionalProperties: { type: "string" } },
  },
  if: { properties: { incidents: { const: true } }, required: ["incidents"] },
  then: { properties: { since: { type: "string", format: "date", title: "Incidents since" } } },
  $defs: { person: { type: "object", required: ["name"], properties: { name: { type: "string" }, phone: { type: "string" } } } },
};

const contract = (id: string, more: object) => ({
  id,
  title: "Everything",
  description: "Asks for everything a form can ask for.",
  category: "trial",
  icon: "scale",
  effect: "read",
  input_schema: { type: "object", properties: {}, additionalProperties: false },
  output_schema: { type: "object" },
  redaction: { allow: ["*"] },
  execution: { kind: "external" },
  ...more,
});

let gate: Gate;
let browser: Browser;
let watched: Watched;
let page: Page;
const folder = mkdtempSync(join(tmpdir(), "toolgate-kinds-"));

beforeAll(async () => {
  mkdirSync(join(folder, "tools"));
  // What a condition brings in must be allowed by the whole too.
  const { additionalProperties: _, ...open_ } = everything;
  writeFileSync(join(folder, "tools/everything.json"), JSON.stringify(contract("trial__everything", { input_schema: open_ })));
  writeFileSync(
    join(folder, "tools/hostile.json"),
    JSON.stringify(
      contract("trial__hostile", {
        title: HOSTILE,
        description: HOSTILE.repeat(20),
        category: "trial",
        icon: "../../etc",
        input_schema: { type: "object", properties: { x: { type: "string", title: HOSTILE, description: HOSTILE } } },
      }),
    ),
  );
  writeFileSync(join(folder, "toolgate.toml"), `[tools]\nfolder = ${JSON.stringify(join(folder, "tools"))}\n`);
  gate = await Gate.start("--config", join(folder, "toolgate.toml"));
  browser = await launch();
  watched = await open(browser);
  page = watched.page;
  await setUp(page, gate);
});

afterEach(() => {
  expect(watched.wrong.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("every kind of field is filled in, sent as it was meant, and shown again", async () => {
  await page.goto(`${gate.url}/tools/trial__everything`);
  await page.getByLabel("Review title").fill("Freight carriers");
  await page.getByLabel(/^Notes/).fill("Two lines\nof text");
  await page.getByLabel(/^Day/).fill("2026-09-30");
  await page.getByLabel(/^Mail/).fill("ada@example.com");
  await page.getByRole("radio", { name: "Deep" }).check();
  await page.getByLabel(/^Currency/).selectOption({ label: "Chf" });
  await page.getByLabel(/^Budget/).fill("12.5");
  expect(await page.getByLabel(/^Incidents since/).count()).toBe(0);
  await page.getByRole("switch", { name: "Incidents" }).click();
  await page.getByLabel(/^Incidents since/).fill("2026-01-01");
  await page.getByRole("radio", { name: "High" }).check();
  await page.getByRole("checkbox", { name: "Urgent" }).check();
  await page.getByRole("button", { name: "Add name" }).click();
  await page.keyboard.type("Halcyon");
  await page.getByRole("button", { name: "Add criterion" }).click();
  await page.keyboard.type("Reliability");
  await page.getByRole("button", { name: "Add criterion" }).click();
  await page.keyboard.type("Cost");
  await page.getByRole("radio", { name: "Date range" }).check();
  await page.getByLabel("From").fill("2026-04-01");
  await page.getByRole("button", { name: "Add Contact" }).click();
  await page.getByRole("group", { name: "Contact" }).getByLabel("Name", { exact: true }).fill("Idris");
  await page.getByLabel(/^Extra/).fill('{"order": "4182"}');
  for (const viewport of [NARROW, WIDE]) {
    await page.setViewportSize(viewport);
    expect(await violations(page)).toEqual([]);
  }
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, "every-kind.png"), fullPage: true });
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/call=inv_/);
  const call = /call=(inv_[0-9a-f]+)/.exec(page.url())![1];
  const { body } = await gate.api("GET", `/invocations/${call}`);
  expect(body.input).toEqual({
    title: "Freight carriers",
    notes: "Two lines\nof text",
    day: "2026-09-30",
    mail: "ada@example.com",
    depth: "deep",
    currency: "chf",
    budget: 12.5,
    count: 3,
    incidents: true,
    since: "2026-01-01",
    severity: "high",
    tags: ["urgent"],
    names: ["Halcyon"],
    criteria: [{ name: "Reliability" }, { name: "Cost" }],
    period: { from: "2026-04-01" },
    contact: { name: "Idris" },
    extra: { order: "4182" },
  });
  await page.reload();
  await page.getByLabel("Review title").waitFor();
  await page.waitForFunction(() => (document.querySelector("#tool_title") as HTMLInputElement | null)?.value === "Freight carriers");
  expect(await page.getByLabel("From").inputValue()).toBe("2026-04-01");
});

test("what is missing is named, each where it belongs", async () => {
  await page.goto(`${gate.url}/tools/trial__everything?input=${encodeURIComponent('{"criteria":[{}],"budget":-1}')}`);
  await page.getByLabel("Review title").waitFor();
  await page.keyboard.press("Control+Enter");
  const alert = page.getByRole("alert");
  await alert.waitFor();
  const said = (await alert.getByRole("button").allTextContents()).sort();
  expect(said).toContain("Title: Fill this in.");
  expect(said).toContain("Criteria › 1 › Name: Fill this in.");
  expect(said).toContain("Budget: At least 0.");
  expect(await violations(page)).toEqual([]);
  await alert.getByRole("button", { name: /Criteria/ }).click();
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("tool_criteria_0_name");
});

test("hostile words are only words, everywhere they are shown", async () => {
  const { body } = await gate.api("POST", "/tools/trial__hostile/invoke?wait=0", { input: { x: HOSTILE } });
  const looks: [string, () => Promise<void>][] = [
    ["/", () => page.getByRole("article").first().waitFor()],
    ["/tools/trial__hostile", () => page.getByRole("heading", { level: 1 }).waitFor()],
    ["/tools/trial__hostile?tab=history", () => page.getByRole("table", { name: "Runs" }).waitFor()],
    [`/runs?run=${body.call_id}`, () => page.getByRole("region", { name: "Input" }).waitFor()],
  ];
  for (const [path, ready] of looks) {
    for (const viewport of [NARROW, WIDE]) {
      await page.setViewportSize(viewport);
      await page.goto(gate.url + path);
      await ready();
      expect(await page.title(), path).not.toBe("taken");
      expect(await sticksOut(page), path).toEqual([]);
    }
  }
  expect(await page.locator('img[src="x"]').count()).toBe(0);
});
