import { describe, expect, test } from "vitest";

import { open } from "./browser";
import { PASSWORD } from "./gate";
import { browser, gate, page, watched } from "./stage";

const drawer = () => page.getByRole("dialog");
const go = (path: string) => page.goto(gate.url + path);
const call = async (tool: string, input: unknown = {}) => (await gate.api("POST", `/tools/${tool}/invoke?wait=5`, { input })).body;
const ROI = { initial_cost: 100, years: [{ benefit: 60 }], horizon_years: 2 };
/** Browsers say by themselves that an answer was a refusal. */
const forgive = (status: number) => {
  const left = watched.wrong.filter((line) => !line.includes(`status of ${status}`));
  watched.wrong.splice(0, watched.wrong.length, ...left);
};

describe("keys", () => {
  test("a key is shown once, works, and is not to be found afterwards", async () => {
    await go("/keys?add=true");
    await drawer().getByLabel("What people call it").fill("laptop");
    await drawer().getByLabel("Scopes").fill("effect:read");
    await drawer().getByRole("button", { name: "Make the key" }).click();
    const secret = (await drawer().getByRole("region", { name: "Key" }).locator("code").textContent())!;
    expect(secret).toMatch(/^tgk_[0-9a-f]{64}$/);
    const me = await fetch(`${gate.url}/api/v1/me`, { headers: { authorization: `Bearer ${secret}` } });
    expect(await me.json()).toMatchObject({ principal: "user:ada", scopes: ["effect:read"] });
    await drawer().getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("link", { name: "laptop" }).click();
    await drawer().getByText("effect:read").waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.reload();
    await drawer().getByText("effect:read").waitFor();
    expect(await page.content()).not.toContain(secret);
    // Rotated: another one is shown, and the old one stops at once.
    await drawer().getByRole("button", { name: "Make a new one" }).click();
    const next = (await drawer().getByRole("region", { name: "New key" }).locator("code").textContent())!;
    const works = async (key: string) => (await fetch(`${gate.url}/api/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect([await works(secret), await works(next)]).toEqual([401, 200]);
  });

  test("revoking asks once more, in place", async () => {
    const { secret, key } = (await gate.api("POST", "/keys", { label: "lost" })).body;
    await go(`/keys?id=${key.id}`);
    await drawer().getByRole("button", { name: "Revoke…" }).click();
    await drawer().getByRole("button", { name: "Yes, it and every key made from it" }).click();
    await drawer().getByText("Revoked", { exact: true }).first().waitFor();
    const me = await fetch(`${gate.url}/api/v1/me`, { headers: { authorization: `Bearer ${secret}` } });
    expect(me.status).toBe(401);
  });
});

describe("kill switches", () => {
  test("a thrown switch stops a tool at once, is told above every page, and is lifted", async () => {
    await go("/kills");
    await page.getByRole("button", { name: "Stop something…" }).click();
    await drawer().getByLabel("Which").fill("core__calculate_roi");
    const stop = drawer().getByRole("button", { name: "Stop it now" });
    expect(await stop.isDisabled()).toBe(true);
    await drawer().getByLabel("Why").fill("wrong numbers <b>since noon</b>");
    await stop.click();
    const strip = page.getByRole("region", { name: "Kill switches" });
    await strip.getByText("A kill switch is thrown.").waitFor();
    expect(await strip.textContent()).toContain("<b>since noon</b>");
    expect((await call("core__calculate_roi", ROI)).ok).not.toBe(true);
    await go("/runs");
    await strip.getByRole("link", { name: "Look and lift" }).click();
    await page.getByRole("button", { name: "Lift…" }).click();
    await page.getByRole("button", { name: "Yes, let calls run again" }).click();
    await page.getByText("Nothing is stopped").waitFor();
    await strip.waitFor({ state: "detached" });
    expect((await call("core__calculate_roi", ROI)).ok).toBe(true);
  });
});

describe("documents", () => {
  test("a role is written, and someone else's write in between is told", async () => {
    await go("/roles?add=true");
    await drawer().getByLabel("Name").fill("support");
    await drawer().getByLabel("Access rules").fill("crm.contacts.read\n\ncrm.contacts.write");
    await drawer().getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "support" }).click();
    await drawer().getByText("revision 1").waitFor();
    await gate.api("PUT", "/roles/support", { description: "theirs", rules: ["crm.contacts.read"] });
    await drawer().getByLabel("What it is for").fill("mine");
    await drawer().getByRole("button", { name: "Save" }).click();
    await drawer().getByText("Someone may have written it meanwhile").waitFor();
    expect(await drawer().getByLabel("What it is for").inputValue()).toBe("mine");
    expect((await gate.api("GET", "/roles/support")).body.description).toBe("theirs");
    await drawer().getByRole("button", { name: "Show what stands now" }).click();
    await drawer().getByText("revision 2").waitFor();
    expect(await drawer().getByLabel("What it is for").inputValue()).toBe("theirs");
    await drawer().getByRole("button", { name: "Remove…" }).click();
    await drawer().getByRole("button", { name: "Yes, whoever has it loses it" }).click();
    await page.getByRole("link", { name: "support" }).waitFor({ state: "detached" });
    forgive(409);
  });

  test("a tool that is switched off is absent, and one that always asks waits", async () => {
    await go("/registry?id=core__calculate_roi");
    await drawer().getByRole("radio", { name: "Off", exact: true }).check();
    await expect.poll(async () => (await gate.api("GET", "/tools/core__calculate_roi")).status).toBe(404);
    await drawer().getByRole("radio", { name: "On", exact: true }).check();
    await expect.poll(async () => (await gate.api("GET", "/tools/core__calculate_roi")).status).toBe(200);
    await drawer().getByRole("switch", { name: /Always ask/ }).click();
    await expect.poll(async () => (await call("core__calculate_roi", ROI)).status).toBe("pending");
    await drawer().getByRole("radio", { name: "As it comes" }).check();
    await drawer().getByRole("switch", { name: /Always ask/ }).click();
    await expect.poll(async () => (await gate.api("GET", "/registry/core__calculate_roi")).body.setting ?? null).toBeNull();
  });

  test("an agent gets a toolset with a profile, and loses it again", async () => {
    await go("/principals?kind=agent&add=true");
    await drawer().getByLabel("Name", { exact: true }).fill("helper");
    await drawer().getByRole("button", { name: "Save" }).click();
    await page.waitForURL((url) => url.searchParams.get("id") === "agent:helper");

    await go("/toolsets?add=true");
    await drawer().getByLabel("Name", { exact: true }).fill("sums");
    await drawer().getByLabel("Tools", { exact: true }).fill("core__calculate_*");
    await drawer().getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "sums" }).click();
    await drawer().getByText("core__calculate_roi").waitFor();

    await go("/profiles?add=true");
    await drawer().getByLabel("Name", { exact: true }).fill("careful");
    await drawer().getByLabel("Calls a minute").fill("ten");
    await drawer().getByText("A number above 0.").waitFor();
    await drawer().getByLabel("Calls a minute").fill("10");
    await drawer().getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "careful" }).waitFor();

    await go("/assignments?agent=agent:helper&add=true");
    await drawer().getByRole("radio", { name: "A toolset" }).check();
    await drawer().getByLabel("Toolset", { exact: true }).fill("sums");
    await drawer().getByLabel("Profile").fill("careful");
    await drawer().getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "sums" }).click();
    const given = (await gate.api("GET", "/assignments?agent=agent:helper")).body.assignments;
    expect(given).toMatchObject([{ toolset: "sums", profile: "careful" }]);
    await drawer().getByRole("button", { name: "Take it…" }).click();
    await drawer().getByRole("button", { name: "Yes, take it from the agent" }).click();
    await page.getByText("It has no tools").waitFor();
  });

  test("limits and approval rules are written and read back", async () => {
    await go("/limits?add=true");
    await drawer().getByLabel("Name", { exact: true }).fill("agents");
    await drawer().getByLabel("What calls may cost").fill("2.5");
    await drawer().getByLabel("Whose calls").fill("agent:*");
    await drawer().getByRole("button", { name: "Save" }).click();
    await page.getByText("cost 2.5 a day").waitFor();
    expect((await gate.api("GET", "/limits/agents")).body).toMatchObject({ cost: { micros: 2_500_000, every: "day" }, principals: ["agent:*"] });

    await gate.api("PUT", "/approval-rules/two", { needed: 2, escalate_after_seconds: 90 });
    await go("/approval-rules?id=two");
    await drawer().getByLabel("How many people must say yes").fill("3");
    await drawer().getByRole("button", { name: "Save" }).click();
    // Ninety seconds are shown as two minutes, and stay ninety when nobody touches them.
    await expect.poll(async () => (await gate.api("GET", "/approval-rules/two")).body).toMatchObject({ needed: 3, escalate_after_seconds: 90 });
  });

  test("a user is made and invited by a link that works once", async () => {
    await go("/principals?add=true");
    await drawer().getByLabel("Login").fill("grace");
    await drawer().getByRole("button", { name: "Save" }).click();
    await drawer().getByRole("button", { name: "Make an invitation" }).click();
    const link = (await drawer().getByRole("region", { name: "Invitation" }).locator("code").textContent())!;
    const other = await open(browser);
    await other.page.goto(link);
    await other.page.getByLabel("Password").fill(PASSWORD);
    await other.page.getByRole("button", { name: "Save and sign in" }).click();
    await other.page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
    // Who manages nothing is shown nothing to manage, and the pages themselves refuse.
    expect(await other.page.getByRole("link", { name: "Policy" }).count()).toBe(0);
    await other.page.goto(`${gate.url}/roles`);
    await other.page.getByText("The roles could not be loaded").waitFor();
    await page.getByRole("button", { name: "Shut out…" }).click();
    await page.getByRole("button", { name: "Yes, end its keys and sign-ins" }).click();
    await drawer().getByText("Shut out", { exact: true }).waitFor();
    await other.page.goto(`${gate.url}/keys`);
    await other.page.getByLabel("Login").waitFor();
    await other.context.close();
  });
});
