import { expect, test } from "vitest";

import type { ToolSummary } from "./queries";
import { readAhead, searchTools } from "./search";

const tool = (id: string, title: string, description = ""): ToolSummary =>
  ({ id, title, description, category: "analysis" }) as ToolSummary;

const tools = [
  tool("core__calculate_roi", "ROI calculator", "Net present value and payback."),
  tool("core__quick_score", "Quick score", "Ranks options by weighted criteria."),
  tool("mcp__git__create_issue", "Create issue", "Opens an issue."),
];

const found = (text: string) => searchTools(tools, text).map((one) => one.id);

test("words are found at their beginning, anywhere", () => {
  expect(found("calc")).toEqual(["core__calculate_roi"]);
  expect(found("payback")).toEqual(["core__calculate_roi"]);
  expect(found("quick weigh")).toEqual(["core__quick_score"]);
});

test("typing mistakes are forgiven, guesses are not made", () => {
  expect(found("calcualtor")).toEqual(["core__calculate_roi"]);
  expect(found("scoer")).toEqual(["core__quick_score"]);
  expect(found("isue")).toEqual(["mcp__git__create_issue"]);
  expect(found("zebra")).toEqual([]);
});

test("a title that says it stands before a description that does", () => {
  const two = [tool("t__a", "Another", "An issue of a kind."), tool("t__b", "Issues of the day"), tool("t__c", "Issue")];
  expect(searchTools(two, "issue").map((one) => one.id)).toEqual(["t__c", "t__b", "t__a"]);
});

test("a list that is read ahead is searched the same", async () => {
  const more = tools.map((one) => ({ ...one }));
  readAhead(more);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(searchTools(more, "scoer").map((one) => one.id)).toEqual(["core__quick_score"]);
});

test("every word counts", () => expect(found("quick zebra")).toEqual([]));

test("nothing typed finds everything", () => expect(found(" ").length).toBe(3));

test("five thousand tools are searched without a wait", () => {
  const many = Array.from({ length: 5000 }, (_, index) => tool(`t__${index}`, `Tool number ${index}`, "Some words about it. ".repeat(10)));
  expect(searchTools(many, "nunber 4999").length).toBeGreaterThan(0);
});
