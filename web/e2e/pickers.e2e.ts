import { join } from "node:path";

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { launch, NARROW, open, setUp, sticksOut, theme, violations, type Watched, WIDE } from "./browser";
import { Gate } from "./gate";
import { asPerson, invited } from "./people";

const HOSTILE = "<img src=x onerror=\"document.title='taken'\"> Mallory";
const TOOL = "fixture__name_things";

let gate: Gate;
let browser: Browser;
let ada: Watched;
let bob: Watched;
let page: Page;

beforeAll(async () => {
  gate = await Gate.start();
  browser = await launch();
  ada = await open(browser);
  await setUp(ada.page, gate);
  for (const [id, title] of [["user:grace", "Grace Hopper"], ["user:idris", "Idrís Okafor"], ["user:mal", HOSTILE]]) {
    await gate.api("POST", "/principals", { id, title });
  }
  // Someone who manages nothing fills in forms like everyone else.
  bob = await invited(browser, gate, "bob", ["member"]);
  page = bob.page;
});

afterEach(() => {
  expect([...ada.wrong.splice(0), ...bob.wrong.splice(0)]).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
});

const shot = async (name: string) => {
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage: true });
};
const owner = () => page.getByRole("combobox", { name: "Owner" });
const search = () => page.getByPlaceholder("Search by name or id");
const callOf = async () => {
  await page.waitForURL(/call=inv_/);
  const id = /call=(inv_[0-9a-f]+)/.exec(page.url())![1]!;
  return { id, ...(await gate.api("GET", `/invocations/${id}`)).body };
};
const csv = (name: string, text = "a,b\n1,2\n") => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });

test("people, tools and files are named by keyboard, with letters wrong, and kept by id", async () => {
  await page.goto(`${gate.url}/tools/${TOOL}`);
  await owner().focus();
  await page.keyboard.type("hoper");
  await page.getByRole("option", { name: /Grace Hopper/ }).waitFor();
  await shot("picker-open");
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await owner().filter({ hasText: "Grace Hopper" }).waitFor();
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("tool_owner");

  await page.getByRole("combobox", { name: /^Reviewers/ }).click();
  await search().fill("idris");
  await page.getByRole("option", { name: /Idrís Okafor/ }).click();
  await search().fill("mallory");
  await page.getByRole("option", { name: /Mallory/ }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: /^Tool/ }).click();
  await search().fill("curent time");
  await page.getByRole("option", { name: /core__get_current_time/ }).click();
  await page.getByRole("textbox", { name: /^Ship/ }).fill("Beagle");

  await page.getByLabel(/^Report/).setInputFiles(csv("march figures.csv"));
  await page.getByRole("link", { name: "march figures.csv" }).waitFor();
  await page.getByLabel(/^Attachments/).setInputFiles([csv("one.csv"), csv("two.csv")]);
  await page.getByRole("link", { name: "two.csv" }).waitFor();
  await page.getByRole("link", { name: "one.csv" }).waitFor();
  await page.getByRole("button", { name: "Remove one.csv" }).click();
  for (const viewport of [NARROW, WIDE]) {
    await page.setViewportSize(viewport);
    for (const which of ["dark", "light"] as const) {
      await theme(page, which);
      expect(await violations(page)).toEqual([]);
      expect(await sticksOut(page)).toEqual([]);
      await shot(`pickers-${viewport.width}-${which}`);
    }
  }
  await page.keyboard.press("Control+Enter");
  const { id, input, output } = await callOf();
  expect(input).toEqual({
    owner: "user:grace",
    reviewers: ["user:idris", "user:mal"],
    tool: "core__get_current_time",
    ship: "Beagle",
    report: expect.stringMatching(/^fil_[0-9a-f]{32}$/),
    attachments: [expect.stringMatching(/^fil_[0-9a-f]{32}$/)],
  });
  expect(output).toEqual({ people: 3, report: input.report });
  expect(await page.title()).not.toBe("taken");

  // The result shows the file it names, beside what it says.
  const result = page.getByRole("region", { name: "Result" }).getByRole("list", { name: "Files of the result" });
  expect(await result.getByRole("link").getAttribute("href")).toBe(`/api/v1/invocations/${id}/files/${input.report}`);
  expect(await violations(page)).toEqual([]);
  await shot("result-files");

  // The run tells which files those were, and gives them back.
  await page.goto(`${gate.url}/runs?run=${id}`);
  const files = page.getByRole("list", { name: "Files of the input" });
  await files.getByRole("link", { name: "two.csv" }).waitFor();
  expect(await page.getByRole("list", { name: "Files of the output" }).getByRole("link").count()).toBe(1);
  const [download] = await Promise.all([page.waitForEvent("download"), files.getByRole("link", { name: "march figures.csv" }).click()]);
  expect(download.suggestedFilename()).toBe("march figures.csv");
  expect(await violations(page)).toEqual([]);
  await shot("run-files");
});

test("what a link fills in has its name in the form and its id in JSON", async () => {
  const input = { owner: "user:idris", reviewers: ["user:grace", "user:gone"] };
  await page.goto(`${gate.url}/tools/${TOOL}?input=${encodeURIComponent(JSON.stringify(input))}`);
  await owner().filter({ hasText: "Idrís Okafor" }).waitFor();
  await page.getByRole("list", { name: "Chosen for Reviewers" }).getByText("not found").waitFor();
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  await page.getByText('"user:idris"').waitFor();
  await page.getByRole("button", { name: "Form", exact: true }).click();
  await page.getByRole("button", { name: "Remove user:gone" }).click();
  await page.getByRole("button", { name: "Clear Owner" }).click();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").getByText("Owner: Fill this in.").click();
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("tool_owner");
  expect(await violations(page)).toEqual([]);
});

test("what is too large, cut off or someone else's is said where it belongs", async () => {
  const mine = await asPerson(page, "GET", "/files");
  const gone = { owner: "user:grace", report: `fil_${"0".repeat(32)}` };
  await page.goto(`${gate.url}/tools/${TOOL}?input=${encodeURIComponent(JSON.stringify(gone))}`);
  await page.getByText("It is not there any more, or not yours to use.").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").getByText(/^Report: /).waitFor();
  await page.goto(`${gate.url}/tools/${TOOL}`);
  await page.getByLabel(/^Report/).waitFor();
  await page.route("**/api/v1/files?name=*", (route) => route.abort());
  await page.getByLabel(/^Report/).setInputFiles(csv("cut.csv"));
  await page.getByRole("alert").filter({ hasText: "The server can't be reached" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.unroute("**/api/v1/files?name=*");
  await page.getByRole("button", { name: "Try cut.csv again" }).click();
  await page.getByRole("link", { name: "cut.csv" }).waitFor();
  await page.getByRole("button", { name: "Remove cut.csv" }).click();
  await page.getByLabel(/^Report/).evaluate((input: HTMLInputElement, size: number) => {
    const chosen = new DataTransfer();
    chosen.items.add(new File([new Uint8Array(size)], "huge.csv"));
    input.files = chosen.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }, mine.max_bytes + 1);
  await page.getByRole("alert").filter({ hasText: "larger than" }).waitFor();
  // Whatever the chooser offers, something else can be dropped: the server keeps nothing of it.
  const before = (await asPerson(page, "GET", "/files")).files.length;
  await page.getByLabel(/^Report/).setInputFiles({ name: "photo.png", mimeType: "image/png", buffer: Buffer.from("no table") });
  const wrong = page.getByRole("alert").filter({ hasText: "The file is not of the kind text/csv or .csv." });
  await wrong.filter({ hasText: "Choose another file" }).waitFor();
  expect(await page.getByRole("button", { name: "Try photo.png again" }).count()).toBe(0);
  expect((await asPerson(page, "GET", "/files")).files.length).toBe(before);
  expect(await violations(page)).toEqual([]);
  // The browser itself tells of requests that were refused or cut off.
  bob.wrong.splice(0);
});

test("whoever is given a call is found by name, and a role can be given it too", async () => {
  await gate.api("PATCH", "/principals/user:bob", { roles: ["approver"] });
  await gate.api("POST", "/principals", { id: "agent:ledger", title: "ledger" });
  await gate.api("PUT", "/assignments", { agent: "agent:ledger", tool: "fixture__transfer" });
  const key = (await gate.api("POST", "/keys", { principal: "agent:ledger", label: "own" })).body.secret;
  const answer = await fetch(`${gate.url}/api/v1/tools/fixture__transfer/invoke?wait=5`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ input: { amount: 7, to: "Given" } }),
  });
  const { call_id: id } = (await answer.json()) as { call_id: string };
  await ada.page.goto(`${gate.url}/approvals?tab=group&id=${id}`);
  const drawer = ada.page.getByRole("dialog", { name: /Moves 7/ });
  await drawer.getByRole("button", { name: "Give to someone else…" }).click();
  await drawer.getByRole("combobox", { name: "Give to" }).focus();
  // An `a` here is a letter, not a yes.
  await ada.page.keyboard.type("a");
  await ada.page.getByPlaceholder("Search by name or id").fill("grace");
  await ada.page.getByRole("option", { name: /Grace/ }).click();
  await drawer.getByRole("button", { name: "Give", exact: true }).click();
  await drawer.getByRole("alert").filter({ hasText: "may not decide on this call" }).waitFor();
  expect(await violations(ada.page)).toEqual([]);
  await drawer.getByRole("radio", { name: "A role" }).check();
  await drawer.getByRole("combobox", { name: "Give to" }).click();
  await ada.page.getByRole("option", { name: /approver/ }).click();
  await drawer.getByRole("button", { name: "Give", exact: true }).click();
  await drawer.getByText("It was given to whoever holds approver.").waitFor();
  expect((await gate.api("GET", `/invocations/${id}`)).body.status).toBe("pending");
  await page.goto(`${gate.url}/approvals`);
  await page.getByRole("link", { name: "Moves 7 to Given" }).waitFor();
  ada.wrong.splice(0);
});
