import { readFileSync } from "node:fs";

import { beforeAll, describe, expect, test } from "vitest";

import { open } from "./browser";
import { PASSWORD } from "./gate";
import { govern } from "./governed";
import { asPerson, invited } from "./people";
import { browser, gate, page } from "./stage";

beforeAll(async () => {
  await govern(gate);
});

const drawer = () => page.getByRole("dialog");
const go = (path: string) => page.goto(gate.url + path);

describe("the record", () => {
  test("it is searched, verified and exported", async () => {
    await gate.api("PUT", "/roles/trace", { description: "left behind" });
    await go("/audit?kind=changes");
    await page.getByRole("link", { name: /role\.put trace/ }).click();
    await drawer().getByText("left behind").waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page.getByText("The record is as it was written").waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export all" }).click()]);
    expect(download.suggestedFilename()).toBe("toolgate-audit.jsonl");
    const lines = readFileSync((await download.path())!, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    expect(lines.some((event) => event.type === "admin.changed" && event.data.action === "role.put" && event.data.name === "trace")).toBe(true);
    expect(lines.some((event) => event.type === "tool.completed")).toBe(true);
    await page.getByLabel("Who", { exact: true }).fill("service:nobody");
    await page.getByText("No event fits").waitFor();
    expect(new URL(page.url()).searchParams.get("actor")).toBe("service:nobody");
    await page.getByRole("button", { name: "Show everything" }).click();
    await page.getByRole("region", { name: "Events" }).waitFor();
  });

  test("it is narrowed by tool and run, and an event is found by its address alone", async () => {
    const { call_id: id } = (await gate.api("POST", "/tools/core__get_current_time/invoke", { input: {} })).body;
    await go("/audit");
    await page.getByLabel("Session or run").fill("not an id");
    expect(await page.getByLabel("Session or run").getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("Session or run").fill(id);
    await page.waitForURL(/about=inv_/);
    const rows = page.getByRole("region", { name: "Events" }).getByRole("row");
    await rows.nth(2).waitFor();
    expect(await rows.count()).toBe(3);
    await rows.nth(1).getByRole("link").click();
    await drawer().getByText("Digest", { exact: true }).waitFor();
    // Opened by itself, where the list does not hold it.
    const address = new URL(page.url());
    address.searchParams.delete("about");
    address.searchParams.set("actor", "service:nobody");
    await page.goto(address.href);
    await drawer().getByText("core__get_current_time").first().waitFor();
  });

  test("it is followed live, without a word twice", async () => {
    await go("/audit?kind=changes&live=true");
    await page.getByRole("link", { name: /role\.put trace/ }).first().waitFor();
    await gate.api("PUT", "/roles/live-one", { description: "seen as it came" });
    await page.getByRole("link", { name: /role\.put live-one/ }).waitFor();
    await gate.api("PUT", "/roles/live-two", { description: "seen as it came" });
    await page.getByRole("link", { name: /role\.put live-two/ }).waitFor();
    expect(await page.getByRole("link", { name: /role\.put live-one/ }).count()).toBe(1);
    await page.getByRole("switch", { name: "Live" }).click();
    expect(new URL(page.url()).searchParams.has("live")).toBe(false);
  });

  test("those who audit read the record and nothing else", async () => {
    const auditor = await invited(browser, gate, "ines", ["auditor"]);
    await auditor.page.getByRole("link", { name: "Audit" }).click();
    await auditor.page.getByRole("region", { name: "Events" }).waitFor();
    expect(await auditor.page.getByRole("link", { name: "Kill switches" }).count()).toBe(0);
    await auditor.page.goto(`${gate.url}/kills`);
    await auditor.page.getByText("The switches could not be loaded").waitFor();
    await auditor.context.close();
  });
});

test("another tenant sees nothing of it", async () => {
  const made = (await gate.api("POST", "/tenants", { id: "other" })).body;
  const theirs = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${gate.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${made.admin_key}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return answer.json();
  };
  const { url } = await theirs("POST", "/principals/user:admin/invite");
  const other = await open(browser);
  await other.page.goto(url);
  await other.page.getByLabel("Password").fill(PASSWORD);
  await other.page.getByRole("button", { name: "Save and sign in" }).click();
  await other.page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
  await gate.api("POST", "/kills", { kind: "tool", target: "fixture__wipe", reason: "ours alone" });
  const empty: [string, string][] = [
    ["/limits", "No limits yet"],
    ["/approval-rules", "No approval rules yet"],
    ["/toolsets", "No toolset yet"],
    ["/profiles", "No profile yet"],
    ["/assignments", "No agent has tools yet"],
    ["/kills", "Nothing is stopped"],
    ["/principals?kind=agent", "No agents yet"],
    ["/policy?tab=versions", "Never changed"],
    ["/usage", "Nothing was called"],
    ["/limits?id=agents", "The limit could not be loaded"],
    ["/principals?id=user:grace", "This entry could not be loaded"],
  ];
  for (const [path, words] of empty) {
    await other.page.goto(gate.url + path);
    await other.page.getByText(words).first().waitFor();
    expect(await other.page.getByText("ours alone").count()).toBe(0);
  }
  for (const path of ["/keys", "/roles", "/audit", "/registry"]) {
    await other.page.goto(gate.url + path);
    await other.page.getByRole("table").first().waitFor();
    const seen = await other.page.getByRole("main").textContent();
    for (const ours of ["laptop", "support", "role.put trace", "user:ada", "helper"]) expect(seen).not.toContain(ours);
  }
  expect(await asPerson(other.page, "GET", "/kills")).toMatchObject({ kills: [] });
  await gate.api("DELETE", "/kills?kind=tool&target=fixture__wipe");
  await other.context.close();
});
