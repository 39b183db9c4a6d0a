import { describe, expect, test } from "vitest";

import { gate, page, watched } from "./stage";

const drawer = () => page.getByRole("dialog");
const go = (path: string) => page.goto(gate.url + path);
const call = async (tool: string, input: unknown = {}) => (await gate.api("POST", `/tools/${tool}/invoke?wait=5`, { input })).body;
const ROI = { initial_cost: 100, years: [{ benefit: 60 }], horizon_years: 2 };
/** Browsers say by themselves that an answer was a refusal. */
const forgive = (status: number) => {
  const left = watched.wrong.filter((line) => !line.includes(`status of ${status}`));
  watched.wrong.splice(0, watched.wrong.length, ...left);
};

describe("policy", () => {
  const editor = () => page.getByRole("textbox", { name: "Policies in Cedar" });
  const end = async (text: string) => {
    await editor().click();
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText(text);
  };
  const FORBID = '\n@id("no transfers")\nforbid (\n    principal,\n    action == Toolgate::Action::"call",\n    resource == Toolgate::Tool::"fixture__transfer"\n);\n';

  test("what is wrong is shown at its place, and can't be saved", async () => {
    await go("/policy");
    await page.getByText("It could be saved").waitFor();
    const before = (await gate.api("GET", "/policy")).body;
    const line = before.text.split("\n").length + 1;
    await end("\nforbid (principal, nonsense");
    const problems = page.getByRole("region", { name: "Keeps it from being saved" });
    await problems.waitFor();
    expect(await problems.textContent()).toMatch(new RegExp(`Line (${line - 1}|${line}),`));
    expect(await page.getByRole("button", { name: "Save and bring into force" }).isDisabled()).toBe(true);
    await problems.getByRole("button", { name: /^Line/ }).first().click();
    expect(await editor().evaluate((one) => one.contains(document.activeElement))).toBe(true);
    await page.locator(".cm-lint-marker-error").first().waitFor();
    expect((await gate.api("GET", "/policy")).body).toEqual(before);
    // Dropped, after being asked.
    await page.getByRole("button", { name: "Drop my changes…" }).click();
    await page.getByRole("button", { name: "Yes, drop them" }).click();
    await page.getByText("It could be saved").waitFor();
  });

  test("a draft is tried on recorded calls, saved, and a denial is explained by its rule", async () => {
    await call("fixture__transfer", { to: "x", amount: 1 });
    await call("core__calculate_roi", ROI);
    await end(FORBID);
    await page.getByText("It could be saved").waitFor();
    await page.getByRole("tab", { name: "Try on recorded calls" }).click();
    await page.getByRole("button", { name: "Try the draft" }).click();
    await page.getByText("looked at").waitFor();
    expect((await gate.api("GET", "/policy")).body.version).toBe(0);
    await page.getByRole("tab", { name: "Text" }).click();
    await page.getByLabel("Why").fill("no transfers for now");
    await page.getByRole("button", { name: "Save and bring into force" }).click();
    await expect.poll(async () => (await gate.api("GET", "/policy")).body.version).toBe(1);

    await page.getByRole("tab", { name: "Explain" }).click();
    await page.getByLabel("Tool").fill("fixture__transfer");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText("decided by").waitFor();
    expect(await page.getByRole("main").textContent()).toContain("no transfers");
    // The answer has an address.
    await page.reload();
    await page.getByText("decided by").waitFor();
    expect(await page.getByRole("main").textContent()).toContain("Denied");
  });

  test("someone else's version in between is not written over", async () => {
    await go("/policy");
    await page.getByText("It could be saved").waitFor();
    const { text } = (await gate.api("GET", "/policy")).body;
    await gate.api("PUT", "/policy", { text: `${text}\n// theirs\n`, note: "theirs" });
    await end("\n// mine\n");
    await page.getByText("It could be saved").waitFor();
    await page.getByRole("button", { name: "Save and bring into force" }).click();
    await page.getByRole("button", { name: "Show what stands now" }).click();
    await page.getByRole("region", { name: "What they changed" }).getByText("+// theirs").waitFor();
    expect((await gate.api("GET", "/policy")).body).toMatchObject({ version: 2, text: expect.not.stringContaining("// mine") });
    await page.getByRole("button", { name: "Take theirs, drop mine" }).click();
    await expect.poll(() => editor().textContent()).toContain("// theirs");
    forgive(409);
  });

  test("going back brings an earlier text into force as a new version", async () => {
    await go("/policy?tab=versions&version=0");
    await drawer().getByRole("button", { name: "Go back to it…" }).click();
    await drawer().getByRole("button", { name: "Yes, in place of version 2" }).click();
    await page.getByRole("link", { name: "3", exact: true }).waitFor();
    expect((await gate.api("GET", "/policy")).body.text).not.toContain("no transfers");
  });
});
