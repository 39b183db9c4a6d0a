import { join } from "node:path";

import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

import { picture, sticksOut, violations, WIDTHS } from "./browser";
import { accept } from "./governed";
import { asPerson } from "./people";
import { gate, page } from "./stage";

/** A server that asks what it is told to ask. */
const SERVER = join(import.meta.dirname, "../../crates/toolgate-upstream/tests/it/hostile.mjs");
const FORM = {
  message: "Where should it go? <b>Choose well.</b>",
  requestedSchema: {
    type: "object",
    required: ["place"],
    properties: {
      place: { type: "string", title: "Place", enum: ["test", "live"], enumNames: ["The test machine", "Where customers are"] },
      note: { type: "string", title: "A note for the log" },
      sure: { type: "boolean", title: "Are you sure?" },
    },
  },
};

beforeAll(async () => {
  const transport = { kind: "stdio", command: process.execPath, args: [SERVER, "stdio", "legacy"], env: {} };
  expect((await gate.api("PUT", "/upstreams/ship", { title: "Shipping", transport, questions: "ask" })).status).toBe(200);
  expect((await gate.api("POST", "/upstreams/ship/refresh")).status).toBe(200);
  await accept(gate, "mcp__ship__act");
});

/** Calls the tool, which asks, and opens the question from the run's own page. */
async function asked(): Promise<{ id: string; question: Page }> {
  const input = { do: "ask", forms: [FORM] };
  const { call_id: id } = await asPerson(page, "POST", "/tools/mcp__ship__act/invoke?wait=0", { input });
  await page.goto(`${gate.url}/tools/mcp__ship__act?call=${id}`);
  await page.getByText("The MCP server behind this tool asks a person something.").waitFor();
  const [question] = await Promise.all([page.context().waitForEvent("page"), page.getByRole("button", { name: "Answer it" }).click()]);
  await question.getByText("Where should it go? <b>Choose well.</b>").waitFor();
  return { id, question };
}

const told = async (id: string) => JSON.parse((await gate.api("GET", `/invocations/${id}?wait=20`)).body.output.content[0].text);

test("what a server asks is answered in a window of its own, and the run goes on by itself", async () => {
  const { id, question } = await asked();
  for (const [width, viewport] of WIDTHS) {
    await question.setViewportSize(viewport);
    for (const scheme of ["light", "dark"] as const) {
      await question.emulateMedia({ colorScheme: scheme });
      await picture(question, "question", width, scheme);
      expect(await violations(question), `${width}, ${scheme}`).toEqual([]);
    }
    expect(await sticksOut(question)).toEqual([]);
  }
  await question.getByRole("heading", { name: "The MCP server ship asks", exact: true }).waitFor();
  await question.getByLabel("Place").selectOption({ label: "Where customers are" });
  await question.getByLabel("Are you sure?").selectOption({ label: "Yes" });
  await question.getByRole("button", { name: "Send" }).click();
  await question.getByRole("heading", { name: "Thank you" }).waitFor();
  await page.getByRole("region", { name: "Result" }).getByText("Succeeded").waitFor();
  expect(JSON.stringify(await told(id))).toContain('"place":"live"');
});

test("a question can be declined, and its server is told", async () => {
  const { id, question } = await asked();
  await question.getByRole("button", { name: "Decline" }).click();
  await question.getByRole("heading", { name: "Declined" }).waitFor();
  await page.getByRole("region", { name: "Result" }).getByText("Succeeded").waitFor();
  expect(JSON.stringify(await told(id))).toContain("decline");
});
