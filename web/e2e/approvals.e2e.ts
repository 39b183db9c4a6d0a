import { beforeAll, expect, test } from "vitest";

import { agent, asPerson, type Caller } from "./people";
import { gate, page, watched } from "./stage";

let ledger: { own: Caller; forMe: Caller };

beforeAll(async () => {
  ledger = await agent(gate, page, "ledger", ["fixture__transfer", "fixture__destroy", "fixture__always_ask"]);
});

const drawer = () => page.getByRole("dialog");
const call = async (id: string) => (await gate.api("GET", `/invocations/${id}`)).body;

async function waiting(input: unknown, tool = "fixture__transfer"): Promise<string> {
  return (await ledger.forMe(tool, input)).call_id;
}

test("a call that waits appears by itself, shows what it would change, and runs when it is approved", async () => {
  await page.goto(`${gate.url}/approvals`);
  await page.getByText("Nothing waits for you").waitFor();
  const id = await waiting({ amount: 4200, to: "Northwind" });
  const row = page.getByRole("link", { name: "Moves 4200 to Northwind" });
  await row.waitFor();
  await page.getByRole("link", { name: /Approvals 1 waiting for you/ }).waitFor();
  await row.click();
  await drawer().getByRole("heading", { name: "Moves 4200 to Northwind" }).waitFor();
  expect(page.url()).toContain(`id=${id}`);
  const shown = await drawer().getByRole("list", { name: "What would change" }).innerText();
  expect(shown).toContain("balance of Northwind");
  expect(shown).toContain("4200");
  await drawer().getByText(/2[34] h left/).waitFor();
  await drawer().getByText("Rule: everyone may see and call").waitFor();
  const focused = await page.evaluate(() => document.activeElement?.getAttribute("role"));
  expect(focused, "focus starts on the drawer, not on a button that decides").toBe("dialog");
  await drawer().getByRole("button", { name: "Approve and run" }).click();
  await drawer().getByText("Approved by you").waitFor();
  await drawer().getByText("Succeeded").waitFor();
  expect((await call(id)).status).toBe("completed");
  await drawer().getByRole("link", { name: "See the run" }).click();
  await page.waitForURL((url) => url.searchParams.get("run") === id);
  await drawer().getByRole("region", { name: "Output" }).waitFor();
  await page.goBack();
  await drawer().getByText("Approved by you").waitFor();
  await page.goBack();
  await page.getByText("Nothing waits for you").waitFor();
});

test("an edited call is previewed again, and both inputs are kept", async () => {
  const id = await waiting({ amount: 900, to: "Halcyon" });
  await page.goto(`${gate.url}/approvals?id=${id}`);
  await drawer().getByRole("button", { name: "Edit" }).click();
  await drawer().getByLabel("Amount").fill("12");
  await drawer().getByRole("button", { name: "Save and preview" }).click();
  await drawer().getByRole("heading", { name: "Moves 12 to Halcyon" }).waitFor();
  const changed = await drawer().getByRole("list", { name: "What was changed of the input" }).innerText();
  expect(changed).toMatch(/900[\s\S]*12/);
  await drawer().getByRole("button", { name: "Approve and run" }).click();
  await drawer().getByText("Approved by you").waitFor();
  const row = await call(id);
  expect([row.input.amount, row.review.input.amount, row.output.amount]).toEqual([900, 12, 12]);
});

test("an input that does not fit is refused in words, and can be mended as JSON", async () => {
  const id = await waiting({ amount: 5, to: "Meridian" });
  await page.goto(`${gate.url}/approvals?id=${id}`);
  await drawer().getByRole("button", { name: "Edit" }).click();
  await drawer().getByRole("radio", { name: "JSON" }).check();
  const editor = drawer().getByRole("textbox", { name: "Input as JSON" });
  await editor.fill('{"amount": "many", "to": "Meridian"}');
  await drawer().getByRole("button", { name: "Save and preview" }).click();
  await drawer().getByRole("alert").waitFor();
  await editor.fill('{"amount": 6, "to": "Meridian"}');
  await drawer().getByRole("button", { name: "Save and preview" }).click();
  await drawer().getByRole("heading", { name: "Moves 6 to Meridian" }).waitFor();
  // The browser reports the refusal too.
  watched.wrong.splice(0).forEach((line) => expect(line).toMatch(/status of 4\d\d/));
});

test("a denial has a reason, and whoever asked can read it", async () => {
  const id = await waiting({ amount: 1_000_000, to: "Nobody I know" });
  await page.goto(`${gate.url}/approvals?id=${id}`);
  await drawer().getByRole("button", { name: "Deny…" }).click();
  expect(await drawer().getByRole("button", { name: "Deny it" }).isDisabled(), "not without a reason").toBe(true);
  await drawer().getByLabel("Why not?").fill("Ask for less.");
  await drawer().getByRole("button", { name: "Deny it" }).click();
  await drawer().getByText("Denied by you").waitFor();
  const row = await call(id);
  expect([row.status, row.reason]).toEqual(["rejected", "Ask for less."]);
  await page.goto(`${gate.url}/approvals?tab=decided`);
  await page.getByRole("link", { name: "Moves 1000000 to Nobody I know" }).waitFor();
});

test("a yes that is remembered lets the next such call run, until it is taken back", async () => {
  const id = await waiting({ amount: 70, to: "Halcyon" });
  await page.goto(`${gate.url}/approvals?id=${id}`);
  await drawer().getByRole("button", { name: "Remember…" }).click();
  await drawer().getByRole("radio", { name: "These arguments" }).check();
  await drawer().getByRole("checkbox", { name: /amount/ }).uncheck();
  await drawer().getByText('where to is "Halcyon"').waitFor();
  await drawer().getByLabel("For", { exact: true }).selectOption("7 days");
  await drawer().getByRole("button", { name: "Approve and remember" }).click();
  await drawer().getByText("Approved by you").waitFor();
  expect((await ledger.forMe("fixture__transfer", { amount: 71, to: "Halcyon" })).status).toBe("completed");
  expect((await ledger.forMe("fixture__transfer", { amount: 71, to: "Elsewhere" })).status).toBe("pending");
  expect((await ledger.own("fixture__transfer", { amount: 71, to: "Halcyon" })).status, "another caller").toBe("pending");

  await page.goto(`${gate.url}/grants`);
  await page.getByText('to = "Halcyon"').waitFor();
  await page.getByRole("region", { name: "Standing grants" }).getByText("1 time", { exact: true }).waitFor();
  await page.getByRole("link", { name: "fixture__transfer" }).click();
  await drawer().getByText("1 time", { exact: true }).waitFor();
  await drawer().getByRole("button", { name: "Take back…" }).click();
  await drawer().getByRole("button", { name: "Yes, take it back" }).click();
  await page.getByText("There are no standing grants").waitFor();
  await expect.poll(async () => (await ledger.forMe("fixture__transfer", { amount: 72, to: "Halcyon" })).status).toBe("pending");
});

test("several calls go together only when tool and rule are the same", async () => {
  const [one, two] = [await waiting({ amount: 1, to: "Batch" }), await waiting({ amount: 2, to: "Batch" })];
  const other = await waiting({ effect_id: "not with the others" }, "fixture__always_ask");
  await page.goto(`${gate.url}/approvals`);
  await page.getByRole("checkbox", { name: "Choose Moves 1 to Batch" }).check();
  expect(await page.getByRole("checkbox", { name: "Choose Always ask" }).isDisabled()).toBe(true);
  await page.getByRole("checkbox", { name: "Choose Moves 2 to Batch" }).check();
  await page.getByRole("button", { name: "Approve 2" }).click();
  await page.getByRole("link", { name: "Moves 1 to Batch" }).waitFor({ state: "detached" });
  expect([(await call(one)).status, (await call(two)).status, (await call(other)).status]).toEqual(["completed", "completed", "pending"]);

  const [three, four] = [await waiting({ amount: 3, to: "Batch" }), await waiting({ amount: 4, to: "Batch" })];
  await page.getByRole("checkbox", { name: "Choose Moves 3 to Batch" }).check();
  await page.getByRole("checkbox", { name: "Choose Moves 4 to Batch" }).check();
  await page.getByRole("button", { name: "Deny 2…" }).click();
  await page.getByLabel("Why not?").fill("Not today.");
  await page.getByRole("button", { name: "Deny 2" }).click();
  await page.getByRole("link", { name: "Moves 3 to Batch" }).waitFor({ state: "detached" });
  expect([(await call(three)).reason, (await call(four)).reason]).toEqual(["Not today.", "Not today."]);
});

test("what destroys something wants the tool's name, typed", async () => {
  const id = await waiting({ effect_id: "customer 17" }, "fixture__destroy");
  await page.goto(`${gate.url}/approvals?id=${id}`);
  await drawer().getByRole("button", { name: "Approve and run" }).click();
  const approve = drawer().getByRole("button", { name: "Approve and run" });
  expect(await approve.isDisabled()).toBe(true);
  await drawer().getByLabel(/^Type/).fill("fixture__destro");
  expect(await approve.isDisabled()).toBe(true);
  await drawer().getByLabel(/^Type/).fill("fixture__destroy");
  await approve.click();
  await drawer().getByText("Approved by you").waitFor();
  expect((await call(id)).decided_by).toBe("user:ada");
  // It was let run, and then had nowhere to send its effect: the browser reports that answer too.
  watched.wrong.splice(0).forEach((line) => expect(line).toMatch(/status of 422/));
});

test("everything goes by keyboard", async () => {
  await page.goto(`${gate.url}/approvals`);
  const id = await waiting({ amount: 31, to: "Keyboard" });
  const next = await waiting({ amount: 32, to: "Keyboard" });
  await page.getByRole("link", { name: "Moves 32 to Keyboard" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await drawer().getByRole("heading", { name: "Moves 31 to Keyboard" }).waitFor();
  await page.keyboard.press("d");
  await drawer().getByLabel("Why not?").waitFor();
  await page.keyboard.type("adjek are letters here");
  await page.keyboard.press("Escape");
  await drawer().getByRole("button", { name: "Deny…" }).waitFor();
  await page.keyboard.press("k");
  await drawer().getByRole("heading", { name: "Moves 32 to Keyboard" }).waitFor();
  await page.keyboard.press("j");
  await drawer().getByRole("heading", { name: "Moves 31 to Keyboard" }).waitFor();
  await page.keyboard.press("e");
  await drawer().getByLabel("Amount").waitFor();
  await page.keyboard.press("Escape");
  await drawer().getByRole("button", { name: "Approve and run" }).waitFor();
  await page.keyboard.press("a");
  await drawer().getByText("Approved by you").waitFor();
  await page.keyboard.press("Escape");
  await drawer().waitFor({ state: "detached" });
  expect([(await call(id)).status, (await call(next)).status]).toEqual(["completed", "pending"]);
});

test("a call that comes while the inbox is on its way is there all the same", async () => {
  const told = (count: number) => page.getByRole("link", { name: `Approvals ${count} waiting for you` });
  const { count } = await asPerson(page, "GET", "/inbox");
  await page.route(
    "**/api/v1/inbox?box=mine",
    async (route) => {
      // Read before the call, shown after the page was told of it.
      const read = await route.fetch();
      await told(count).waitFor();
      await waiting({ amount: 41, to: "Late" });
      await told(count + 1).waitFor();
      await route.fulfill({ response: read });
    },
    { times: 1 },
  );
  await page.goto(`${gate.url}/approvals`);
  await page.getByRole("link", { name: "Moves 41 to Late" }).waitFor();
});

test("a call that comes before the page listens is there all the same", async () => {
  let listen = () => {};
  const held = new Promise<void>((resolve) => (listen = resolve));
  await page.route("**/api/v1/inbox/events", async (route) => held.then(() => route.continue()), { times: 1 });
  await page.goto(`${gate.url}/approvals`);
  await page.getByRole("link", { name: "Moves 41 to Late" }).waitFor();
  await waiting({ amount: 42, to: "Later" });
  listen();
  await page.getByRole("link", { name: "Moves 42 to Later" }).waitFor();
});

test("what someone changes of a call shows in the list by itself", async () => {
  await page.goto(`${gate.url}/approvals`);
  const id = await waiting({ amount: 51, to: "Changed" });
  await page.getByRole("link", { name: "Moves 51 to Changed" }).waitFor();
  await asPerson(page, "POST", `/invocations/${id}/edit`, { input: { amount: 52, to: "Changed" } });
  await page.getByRole("link", { name: "Moves 52 to Changed" }).waitFor();
});
