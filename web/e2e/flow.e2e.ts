import { describe, expect, test } from "vitest";

import { open, signIn, tabTo, violations } from "./browser";
import { LOGIN } from "./gate";
import { browser, gate, page, watched } from "./stage";

const result = () => page.getByRole("region", { name: "Result" });
const go = (path: string) => page.goto(gate.url + path);

describe("getting in", () => {
  test("a set-up link makes the first administrator, once", async () => {
    await page.getByRole("button", { name: /Account/ }).waitFor();
    expect(await page.getByRole("button", { name: /Account/ }).textContent()).toContain(LOGIN);
    const other = await open(browser);
    const again = await other.page.goto(gate.setUpLink);
    expect(again!.status()).toBe(200);
    await other.page.getByLabel("Password").fill("another long password");
    await other.page.getByRole("button", { name: "Create and sign in" }).click();
    await other.page.getByRole("alert").waitFor();
    expect(await other.page.getByRole("alert").textContent()).toContain("token_invalid");
    await other.context.close();
  });

  test("whoever is not signed in is led to sign in, and back to where they wanted to go", async () => {
    const other = await open(browser);
    await other.page.goto(`${gate.url}/runs?status=failed`);
    await other.page.waitForURL(/\/sign-in\?return_to=/);
    await signIn(other.page);
    await other.page.waitForURL(`${gate.url}/runs?status=failed`);
    await other.page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    await other.page.getByRole("button", { name: /Account/ }).click();
    await other.page.getByRole("menuitem", { name: "Sign out" }).click();
    await other.page.waitForURL(/\/sign-in/);
    await other.page.goto(gate.url);
    await other.page.waitForURL(/\/sign-in\?return_to=%2F/);
    await other.context.close();
  });

  test("a link back to another site leads home", async () => {
    const other = await open(browser);
    await other.page.goto(`${gate.url}/sign-in?return_to=${encodeURIComponent("//evil.example/")}`);
    await signIn(other.page);
    await other.page.waitForURL(`${gate.url}/`);
    await other.context.close();
  });
});

describe("running a tool", () => {
  test("by keyboard alone, from the palette to the result", async () => {
    await go("/");
    await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("roi calculater");
    await page.getByRole("option", { name: /ROI calculator/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByLabel("Initial cost").waitFor();
    await tabTo(page, page.getByLabel("Initial cost"));
    await page.keyboard.type("100000");
    await tabTo(page, page.getByRole("button", { name: "Add year" }));
    await page.keyboard.press("Enter");
    await page.keyboard.type("60000");
    await page.keyboard.press("Control+Enter");
    await result().getByText("Succeeded").waitFor();
    await result().getByRole("heading", { name: "Summary" }).waitFor();
    expect(page.url()).toMatch(/call=inv_/);
    await result().getByRole("table", { name: "Money over time" }).waitFor({ state: "attached" });
  });

  test("what is wrong is said at its field, before anything is sent", async () => {
    await go("/tools/core__calculate_roi");
    await page.getByLabel("Initial cost").fill("-5");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").textContent()).toContain("Initial cost: At least 0.");
    expect(await page.getByLabel("Initial cost").getAttribute("aria-invalid")).toBe("true");
    expect(await violations(page)).toEqual([]);
    expect(await result().getByText("Nothing has run yet").count()).toBe(1);
  });

  test("form and JSON are the same input", async () => {
    await go("/tools/core__calculate_roi");
    await page.getByLabel("Initial cost").fill("777");
    await page.getByRole("button", { name: "JSON" }).click();
    const editor = page.getByRole("textbox", { name: "Input as JSON" });
    await editor.waitFor();
    expect(await editor.textContent()).toContain('"initial_cost": 777');
    expect(await violations(page)).toEqual([]);
    await editor.fill('{"initial_cost": 888, "years": [{"benefit": 1}]}');
    await page.getByRole("button", { name: "Form" }).click();
    expect(await page.getByLabel("Initial cost").inputValue()).toBe("888");
    expect(await page.getByLabel("Benefit").inputValue()).toBe("1");
  });

  test("a link fills in the form; nonsense in it does no harm", async () => {
    await go(`/tools/core__calculate_roi?input=${encodeURIComponent('{"initial_cost":4321}')}`);
    await page.getByLabel("Initial cost").waitFor();
    expect(await page.getByLabel("Initial cost").inputValue()).toBe("4321");
    await go(`/tools/core__calculate_roi?input=${encodeURIComponent("{nonsense")}`);
    await page.getByLabel("Initial cost").waitFor();
    expect(await page.getByLabel("Initial cost").inputValue()).toBe("");
  });

  test("inputs are saved in this browser and filled in again", async () => {
    await go("/tools/core__calculate_roi");
    await page.getByLabel("Initial cost").fill("55");
    await page.getByRole("button", { name: "Saved" }).click();
    await page.getByLabel("Name for this input").fill("Small one");
    await page.getByRole("menu").getByRole("button", { name: "Save" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Reset" }).click();
    expect(await page.getByLabel("Initial cost").inputValue()).toBe("");
    await page.getByRole("button", { name: "Saved" }).click();
    await page.getByRole("menuitem", { name: "Small one", exact: true }).click();
    expect(await page.getByLabel("Initial cost").inputValue()).toBe("55");
  });

  test("progress is shown while it runs, and it can be cancelled", async () => {
    await go("/tools/fixture__slow_read");
    await page.getByLabel("Milliseconds").fill("60000");
    await page.getByLabel(/^Reports/).fill("200");
    await page.keyboard.press("Control+Enter");
    await result().getByText("Running", { exact: true }).first().waitFor();
    await result().getByText(/^\d+ of 200$/).waitFor();
    expect(Number(await result().getByRole("progressbar").getAttribute("aria-valuenow"))).toBeGreaterThanOrEqual(0);
    expect(await violations(page)).toEqual([]);
    await result().getByRole("button", { name: "Cancel" }).click();
    await result().getByText("It was cancelled.").waitFor();
  });

  test("a run that was left goes on, and its page shows how it ends", async () => {
    await go("/tools/fixture__slow_read");
    await page.getByLabel("Milliseconds").fill("3000");
    await page.keyboard.press("Control+Enter");
    await page.waitForURL(/call=inv_/);
    await page.reload();
    await result().getByText("Succeeded").waitFor();
    expect(await page.getByLabel("Milliseconds").inputValue()).toBe("3000");
  });

  test("a call that asks a person says what it waits for, and is let run elsewhere", async () => {
    await go("/tools/fixture__always_ask");
    await page.getByLabel("Effect id").fill("from the page");
    await page.keyboard.press("Control+Enter");
    await result().getByText("Needs approval").waitFor();
    await result().getByText(/to decide before it runs/).waitFor();
    const call = /call=(inv_[0-9a-f]+)/.exec(page.url())![1];
    const rejected = await gate.api("POST", `/invocations/${call}/reject`, { reason: "not <b>today</b>" });
    expect(rejected.status).toBe(200);
    await result().getByText("A person said no.").waitFor();
    await result().getByText("not <b>today</b>").waitFor();
  });

  test("the same call elsewhere carries no key", async () => {
    await go("/tools/core__calculate_roi");
    await page.getByLabel("Initial cost").fill("12");
    await page.getByRole("button", { name: "Copy this call" }).click();
    await page.getByRole("menuitem", { name: "curl" }).click();
    await page.getByText("Copied as curl").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain('"initial_cost":12');
    expect(copied).toContain("$TOOLGATE_KEY");
  });
});

describe("looking back", () => {
  test("a run opens in the drawer by its link, and Back closes it", async () => {
    await go("/runs");
    await page.getByRole("table", { name: "Runs" }).getByRole("link").first().click();
    await page.getByRole("dialog").waitFor();
    expect(page.url()).toContain("run=inv_");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("role"))).toBe("dialog");
    await page.goBack();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.goForward();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(page.url()).not.toContain("run=");
  });

  test("history is found by what was asked", async () => {
    await go("/tools/fixture__always_ask?tab=history");
    await page.getByRole("table", { name: "Runs" }).getByText("from the page").waitFor();
    await page.getByLabel("Search the inputs").fill("something never asked");
    await page.getByText("No runs here").waitFor();
    await page.getByText(/All [0-9]+ were looked through/).waitFor();
  });

  test("a search that went far enough says how far, and goes on when asked", async () => {
    const asked: (string | null)[] = [];
    // As many runs as one part of a search looks through take too long to make: the answers are made up.
    await page.route("**/api/v1/invocations?**text=*", (route) => {
      const cursor = new URL(route.request().url()).searchParams.get("cursor");
      asked.push(cursor);
      const back_to = new Date(Date.now() - (cursor ? 9 : 3) * 86_400_000).toISOString();
      const next_cursor = cursor ? undefined : `inv_${"0".repeat(32)}`;
      return route.fulfill({ json: { invocations: [], next_cursor, searched: { calls: cursor ? 14_500 : 20_000, back_to } } });
    });
    await go("/runs?text=far%20away");
    await page.getByText("Nothing found so far").waitFor();
    await page.getByText(/It is not in the newest 20,000 runs, back to 3 days ago\./).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(asked).toEqual([null]);
    await page.getByRole("button", { name: "Look further back" }).click();
    await page.getByText(/All 34,500 were looked through/).waitFor();
    expect(asked).toEqual([null, `inv_${"0".repeat(32)}`]);
    await page.getByRole("button", { name: "Show all runs" }).click();
    await page.getByRole("table", { name: "Runs" }).waitFor();
    await page.unroute("**/api/v1/invocations?**text=*");
  });

  test("why a call would run is explained with the rule that decided", async () => {
    await go("/tools/fixture__destroy?tab=access");
    await page.getByText("decided by").waitFor();
    await page.getByLabel("Who").fill("agent:nobody");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText("It can't be said").or(page.getByText("nobody", { exact: true })).waitFor();
    // Asking about someone who does not exist is answered 404, which browsers say by themselves.
    watched.wrong.splice(0);
  });
});

describe("the library", () => {
  test("`/` searches, mistakes are forgiven, and the address keeps it", async () => {
    await go("/");
    await page.getByRole("article").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("quik scoer");
    await page.waitForURL(/q=quik(\+|%20)scoer/);
    const first = () => page.getByRole("article").first().getByRole("link").textContent();
    expect(await first()).toBe("Quick score");
    await page.reload();
    await page.getByRole("article").first().waitFor();
    expect(await first()).toBe("Quick score");
    expect(await page.getByRole("article").count()).toBeLessThan(6);
  });

  test("filters narrow, and chips count what is left", async () => {
    await go("/");
    await page.getByRole("button", { name: "Effect" }).click();
    await page.getByRole("menuitemcheckbox", { name: /Destructive/ }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Destroy", exact: false }).first().waitFor();
    const all = await page.getByRole("group", { name: "Category" }).getByRole("button").first().textContent();
    expect(all).toBe(`All${await page.getByRole("article").count()}`);
  });
});

test("the page says so when contact is lost, and goes on when it is back", async () => {
  const other = await open(browser);
  await other.page.goto(`${gate.url}/sign-in`);
  await signIn(other.page);
  await other.page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
  await other.page.route("**/inbox/events", (route) => route.abort());
  await other.page.reload();
  await other.page.getByText("Reconnecting.").waitFor();
  await other.page.unroute("**/inbox/events");
  await other.page.getByText("Reconnecting.").waitFor({ state: "detached" });
  await other.context.close();
});
