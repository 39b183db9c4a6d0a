import { beforeAll, expect, test } from "vitest";

import { invited } from "./people";
import { browser, gate, page } from "./stage";

const SECRET = "s3cret-of-the-notes";

beforeAll(async () => {
  const transport = { kind: "http", url: "https://notes.example.com/mcp", headers: {} };
  await gate.api("PUT", "/upstreams/notes", { title: "Notes", transport, enabled: true, auth: "shared" });
});

const drawer = () => page.getByRole("dialog");

test("a secret is given from the server's own page, and is nowhere to be seen afterwards", async () => {
  await page.goto(`${gate.url}/upstreams?server=notes`);
  await drawer().getByRole("link", { name: "Connect it" }).click();
  await expect.poll(() => drawer().getByLabel("Service").inputValue()).toBe("mcp:notes");
  await drawer().getByRole("radio", { name: "Header" }).check();
  await drawer().getByLabel("Name of the header").fill("x-api-key");
  const secret = drawer().getByLabel("Secret");
  expect(await secret.getAttribute("type")).toBe("password");
  await secret.fill(SECRET);
  await drawer().getByRole("switch", { name: /For everyone/ }).click();
  await drawer().getByRole("button", { name: "Keep it" }).click();
  await page.getByRole("link", { name: "mcp:notes" }).click();
  await drawer().getByText("https://notes.example.com").waitFor();
  expect(await page.content()).not.toContain(SECRET);
  const everything = await fetch(`${gate.url}/api/v1/audit/export`, { headers: { authorization: `Bearer ${(await gate.api("POST", "/keys", { label: "look" })).body.secret}` } });
  expect(await everything.text()).not.toContain(SECRET);
});

test("another secret takes the place of the first", async () => {
  const [before] = (await gate.api("GET", "/connections")).body.connections;
  await page.goto(`${gate.url}/connections?id=${before.id}`);
  await drawer().getByRole("link", { name: "Give another secret" }).click();
  expect(await drawer().getByLabel("Name of the header").inputValue()).toBe("x-api-key");
  await drawer().getByLabel("Secret").fill(`${SECRET}-2`);
  await drawer().getByRole("button", { name: "Keep it" }).click();
  await drawer().waitFor({ state: "detached" });
  const after = (await gate.api("GET", "/connections")).body.connections;
  expect(after.map(({ service, owner, kind, name }: typeof before) => ({ service, owner, kind, name }))).toEqual([
    { service: "mcp:notes", owner: "shared", kind: "header", name: "x-api-key" },
  ]);
  expect(after[0].updated_at).not.toBe(before.updated_at);
});

test("who does not manage connections sees shared ones and can't remove them", async () => {
  const other = await invited(browser, gate, "grace", ["member"]);
  await other.page.goto(`${gate.url}/connections`);
  await other.page.getByRole("link", { name: "mcp:notes" }).click();
  const theirs = other.page.getByRole("dialog");
  await theirs.getByRole("button", { name: "Remove…" }).click();
  await theirs.getByRole("button", { name: "Yes, remove it" }).click();
  await theirs.getByRole("alert").waitFor();
  expect((await gate.api("GET", "/connections")).body.connections).toHaveLength(1);
  await other.page.goto(`${gate.url}/connections?add=true`);
  await theirs.getByLabel("Service").waitFor();
  expect(await theirs.getByRole("switch", { name: /For everyone/ }).count()).toBe(0);
  await other.context.close();
});

test("a connection is removed after one more question", async () => {
  await page.goto(`${gate.url}/connections`);
  await page.getByRole("link", { name: "mcp:notes" }).click();
  await drawer().getByRole("button", { name: "Remove…" }).click();
  await drawer().getByRole("button", { name: "Yes, remove it" }).click();
  await page.getByText("Nothing is connected yet").waitFor();
  expect((await gate.api("GET", "/connections")).body.connections).toEqual([]);
});

test("an application's secret is shown once, and it is taken away again", async () => {
  await page.goto(`${gate.url}/applications?tab=named&add=true`);
  await drawer().getByLabel("Client id").fill("desk");
  await drawer().getByLabel("What people call it").fill("Desk <b>app</b>");
  await drawer().getByLabel("Where people may be sent back to").fill("https://desk.example.com/back");
  await drawer().getByRole("switch", { name: /It gets a secret/ }).click();
  await drawer().getByRole("button", { name: "Save" }).click();
  const secret = (await drawer().getByRole("region", { name: "Client secret" }).locator("code").textContent())!;
  expect(secret.length).toBeGreaterThan(20);
  await drawer().getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("link", { name: "desk" }).click();
  await drawer().getByText("By a secret").waitFor();
  expect(await drawer().textContent()).toContain("Desk <b>app</b>");
  expect(await page.content()).not.toContain(secret);
  await drawer().getByRole("button", { name: "Take it away…" }).click();
  await drawer().getByRole("button", { name: "Yes, and shut it out everywhere" }).click();
  await page.getByText("No application was named").waitFor();
});

test("what was let in is seen and taken back", async () => {
  const back = "https://desk.example.com/back";
  await gate.api("POST", "/oauth/clients", { id: "editor", name: "My editor", redirect_uris: [back] });
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "editor",
    redirect_uri: back,
    state: "s",
    scope: "tools",
    resource: `${gate.url}/mcp`,
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  await page.route("https://desk.example.com/**", (route) => route.fulfill({ body: "back" }));
  await page.goto(`${gate.url}/oauth/authorize?${query}`);
  await page.getByRole("button", { name: "Let it in" }).click();
  await page.waitForURL((url) => url.host === "desk.example.com");
  const code = new URL(page.url()).searchParams.get("code")!;
  const answer = await fetch(`${gate.url}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ grant_type: "authorization_code", code, client_id: "editor", redirect_uri: back, code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", resource: `${gate.url}/mcp` }),
  });
  expect(answer.status).toBe(200);
  await page.goto(`${gate.url}/applications`);
  await page.getByText("My editor").waitFor();
  await page.getByRole("button", { name: "Take back…" }).click();
  await page.getByRole("button", { name: "Yes, shut it out" }).click();
  await page.getByText("No application was let in").waitFor();
  expect((await gate.api("GET", "/oauth/grants?all=true")).body.grants).toEqual([]);
});
