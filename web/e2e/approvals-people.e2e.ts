import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { launch, open, setUp, type Watched } from "./browser";
import { Gate } from "./gate";
import { agent, type Caller, invited } from "./people";

let gate: Gate;
let browser: Browser;
let ada: Watched;
let bob: Watched;
let ledger: { own: Caller; forMe: Caller };

beforeAll(async () => {
  gate = await Gate.start();
  browser = await launch();
  ada = await open(browser);
  await setUp(ada.page, gate);
  ledger = await agent(gate, ada.page, "ledger", ["fixture__transfer", "fixture__always_ask"]);
  bob = await invited(browser, gate, "bob", ["approver"]);
});

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
});

const drawer = (page: Page) => page.getByRole("dialog");
const show = (who: Watched, id: string) => who.page.goto(`${gate.url}/approvals?tab=group&id=${id}`);
const call = async (id: string) => (await gate.api("GET", `/invocations/${id}`)).body;

test("whoever looks on sees by itself what someone else decided", async () => {
  const { call_id: id } = await ledger.own("fixture__transfer", { amount: 1, to: "Both" });
  await Promise.all([show(ada, id), show(bob, id)]);
  await drawer(ada.page).getByRole("button", { name: "Approve and run" }).waitFor();
  await drawer(bob.page).getByRole("button", { name: "Approve and run" }).click();
  await drawer(ada.page).getByText("Approved by bob").waitFor();
  await drawer(ada.page).getByText("decided while you were looking").waitFor();
  expect(await drawer(ada.page).getByRole("button", { name: "Approve and run" }).count()).toBe(0);
});

test("whoever is late with a click is told what happened, and runs nothing twice", async () => {
  const { call_id: id } = await ledger.own("fixture__transfer", { amount: 2, to: "Late" });
  await show(ada, id);
  const approve = drawer(ada.page).getByRole("button", { name: "Approve and run" });
  await approve.waitFor();
  // Ada's page hears of nothing for a while, as over a bad line.
  await ada.page.route(`**/api/v1/invocations/${id}`, (route) => route.abort());
  await ada.page.route("**/api/v1/inbox*", (route) => route.abort());
  await show(bob, id);
  await drawer(bob.page).getByRole("button", { name: "Deny…" }).click();
  await drawer(bob.page).getByLabel("Why not?").fill("Not this one.");
  await drawer(bob.page).getByRole("button", { name: "Deny it" }).click();
  await drawer(bob.page).getByText("Denied by you").waitFor();
  await approve.click();
  await drawer(ada.page).getByRole("alert").filter({ hasText: "The call is rejected" }).waitFor();
  await ada.page.unroute(`**/api/v1/invocations/${id}`);
  await ada.page.unroute("**/api/v1/inbox*");
  await drawer(ada.page).getByText("Denied by bob").waitFor();
  await drawer(ada.page).getByText("“Not this one.”", { exact: true }).waitFor();
  expect((await call(id)).status).toBe("rejected");
});

test("what someone changed meanwhile is looked at again before it is approved", async () => {
  const { call_id: id } = await ledger.own("fixture__transfer", { amount: 3, to: "Changed" });
  await show(ada, id);
  await drawer(ada.page).getByRole("heading", { name: "Moves 3 to Changed" }).waitFor();
  await show(bob, id);
  await drawer(bob.page).getByRole("button", { name: "Edit" }).click();
  // Bob may decide and call, so he has the tool's own form.
  await drawer(bob.page).getByLabel("Amount").fill("4");
  await drawer(bob.page).getByRole("button", { name: "Save and preview" }).click();
  await drawer(ada.page).getByText("bob changed the input while you were looking").waitFor();
  const approve = drawer(ada.page).getByRole("button", { name: "Approve and run" });
  expect(await approve.isDisabled()).toBe(true);
  await drawer(ada.page).getByRole("button", { name: "I have seen it" }).click();
  await approve.click();
  await drawer(ada.page).getByText("Approved by you").waitFor();
  expect((await call(id)).output.amount).toBe(4);
});

test("where two must agree, each says yes once", async () => {
  const rule = { description: "two", tools: ["fixture__always_ask"], needed: 2 };
  await gate.api("PUT", "/approval-rules/two", rule);
  const { call_id: id } = await ledger.own("fixture__always_ask", { effect_id: "quorum" });
  await show(ada, id);
  await drawer(ada.page).getByText("0 of 2").waitFor();
  await drawer(ada.page).getByRole("button", { name: "Say yes, 1 of 2" }).click();
  await drawer(ada.page).getByText("You said yes. 1 of 2 so far.").waitFor();
  expect((await call(id)).status).toBe("pending");
  await show(bob, id);
  await drawer(bob.page).getByText("Said yes: ada").waitFor();
  await drawer(bob.page).getByRole("button", { name: "Approve and run" }).click();
  await drawer(bob.page).getByText("Approved by you").waitFor();
  await drawer(ada.page).getByText("Approved by bob").waitFor();
});

test("questions back, answers, and giving it to someone else", async () => {
  const { call_id: id } = await ledger.own("fixture__transfer", { amount: 5, to: "Questions" });
  await show(ada, id);
  await drawer(ada.page).getByLabel("Ask back").fill("Which invoice is it for?");
  await drawer(ada.page).getByRole("button", { name: "Ask", exact: true }).click();
  await drawer(ada.page).getByRole("list", { name: "Remarks" }).getByText("Which invoice is it for?").waitFor();
  await show(bob, id);
  await drawer(bob.page).getByLabel("Ask back").fill("Number 17.");
  await drawer(bob.page).getByRole("button", { name: "Ask", exact: true }).click();
  await drawer(ada.page).getByText("Number 17.").waitFor();
  await drawer(ada.page).getByRole("button", { name: "Give to someone else…" }).click();
  await drawer(ada.page).getByRole("combobox", { name: "Give to" }).click();
  await ada.page.getByRole("option", { name: /bob/ }).click();
  await drawer(ada.page).getByRole("button", { name: "Give", exact: true }).click();
  await drawer(ada.page).getByText("It was given to bob.").waitFor();
  await bob.page.goto(`${gate.url}/approvals`);
  await bob.page.getByRole("link", { name: "Moves 5 to Questions" }).waitFor();
});

test("who may not decide on a call sees nothing of it", async () => {
  const { call_id: id } = await ledger.own("fixture__transfer", { amount: 6, to: "Walls" });
  const carl = await invited(browser, gate, "carl", []);
  await carl.page.goto(`${gate.url}/approvals?tab=group&id=${id}`);
  await carl.page.getByText("There is no invocation with this id").waitFor();
  expect(await carl.page.getByText("Walls").count()).toBe(0);
  await carl.context.close();
});
