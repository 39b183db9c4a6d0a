import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import { contentOf } from "./content";
import { Output, sectionsOf } from "./sections";
import { formatValue } from "./value";

test("a summary is its sentence and its figures", () => {
  const section = { key: "s", label: "Summary", type: "summary", config: { figures: [{ field: "npv", label: "Value", format: "money" }] } };
  render(<Output value={{ s: { text: "Well done.", npv: 1234.5 } }} sections={[section]} />);
  expect(screen.getByText("Well done.")).toBeDefined();
  expect(screen.getByText("1,234.5")).toBeDefined();
});

test("a table sorts by figures, not by their letters", async () => {
  const section = { key: "rows", label: "Rows", type: "table", config: { columns: [{ field: "n", label: "Number", format: "integer" }] } };
  render(<Output value={{ rows: [{ n: 9 }, { n: 100 }] }} sections={[section]} />);
  await userEvent.click(screen.getByRole("button", { name: "Number" }));
  const cells = await screen.findAllByRole("cell");
  expect(cells.map((cell) => cell.textContent)).toEqual(["100", "9"]);
});

test("a drawing has its numbers as a table", async () => {
  const section = {
    key: "years",
    label: "Money over time",
    type: "chart",
    config: { kind: "line", x: { field: "year", label: "Year" }, series: [{ field: "sum", label: "Sum", format: "money" }] },
  };
  render(<Output value={{ years: [{ year: 1, sum: 10 }] }} sections={[section]} />);
  const table = await screen.findByRole("table", { name: "Money over time" }, { timeout: 20_000 });
  expect(within(table).getByRole("cell", { name: "10" })).toBeDefined();
}, 30_000);

test("kinds nobody knows, and values of the wrong shape, are shown as JSON and break nothing", () => {
  const sections = sectionsOf([
    { key: "a", label: "New kind", type: "hologram" },
    { key: "b", label: "Bad table", type: "table" },
    { key: "c", label: "Bad ranking", type: "ranking" },
    "nonsense",
  ]);
  render(<Output value={{ a: { x: 1 }, b: 7, c: "x", rest: true }} sections={sections} />);
  for (const label of ["New kind", "Bad table", "Bad ranking", "The rest of the result"]) {
    expect(screen.getByRole("region", { name: label })).toBeDefined();
  }
});

test("a result without sections is shown by what it is", () => {
  render(<Output value={{ milliseconds: 1500, done: true }} sections={[]} />);
  expect(screen.getByText("1,500")).toBeDefined();
  expect(screen.getByText("Yes")).toBeDefined();
});

test("pictures that could hold a script are not drawn", () => {
  const blocks = contentOf({ content: [{ type: "image", mimeType: "image/svg+xml", data: "PHN2Zz4=" }] })!.blocks;
  render(<Output value={{ content: blocks }} sections={[]} />);
  expect(document.querySelector("img")).toBeNull();
});

test("values are written as people read them", () => {
  expect(formatValue(null)).toBe("–");
  expect(formatValue(0.5, "percent")).toBe("0.5%");
  expect(formatValue("quick_win", "label")).toBe("Quick win");
  expect(formatValue(["a", "b"], "list")).toBe("a, b");
  expect(formatValue(1234.5, "integer")).toBe("1,235");
});

test("content that came beside a value is shown with it", async () => {
  const content = [
    { type: "text", text: "Here is the chart" },
    { type: "image", mimeType: "image/png", data: "iVBORw0KGgo_" },
    { type: "audio", mimeType: "audio/wav", data: "aGk=" },
    { type: "resource", resource: { uri: "toolgate://servers/files/file:///tmp/a.pdf", mimeType: "application/pdf", blob: "aGVsbG8=" } },
    { type: "resource", resource: { uri: "https://example.com/b.csv", text: "a,b\r\n1,2" } },
    { type: "resource_link", uri: "https://example.com/", name: "there\u202e" },
  ];
  render(<Output value={{ n: 1 }} content={content} sections={[]} />);
  expect(await screen.findByText("Here is the chart")).toBeDefined();
  expect(screen.getByRole("img").getAttribute("src")).toBe("data:image/png;base64,iVBORw0KGgo/");
  expect(document.querySelector("audio")?.getAttribute("src")).toBe("data:audio/wav;base64,aGk=");
  expect(screen.getByText("a.pdf")).toBeDefined();
  expect(screen.getByRole("button", { name: /^Save/ })).toBeDefined();
  expect(screen.getByRole("region", { name: "b.csv" }).textContent).toContain("1,2");
  expect(screen.getByText("there‹U+202E›")).toBeDefined();
  expect(document.querySelector("a")).toBeNull();
  expect(screen.getByRole("region", { name: "Structured result" }).textContent).toContain('"n": 1');
});

test("a result of nothing says so", () => {
  render(<Output value={{ content: [] }} sections={[]} />);
  expect(screen.getByText("It returned nothing.")).toBeDefined();
});

test("a structure that its server says once more as a text is shown once", () => {
  const structured = { rows: [{ name: "*x*", n: 1 }], total: 1 };
  const content = [{ type: "text", text: JSON.stringify({ total: 1, rows: structured.rows }, null, 2) }];
  render(<Output value={{ content, structured }} sections={[]} />);
  expect(screen.getAllByRole("region").map((region) => region.getAttribute("aria-label"))).toEqual(["Structured result"]);
});

test("a text that is a document is shown as it is written", () => {
  const content = [
    { type: "text", text: '{"name":"*x*"}' },
    { type: "text", text: '{"id":12345678901234567890}' },
  ];
  render(<Output value={{ content }} sections={[]} />);
  expect(screen.getAllByRole("region", { name: "What it says" }).map((region) => region.textContent)).toEqual([
    '{\n  "name": "*x*"\n}',
    '{"id":12345678901234567890}',
  ]);
});

test("bytes that are no file are not saved, and that is said", async () => {
  render(<Output value={{ content: [{ type: "image", mimeType: "image/svg+xml", data: "not base64!" }] }} sections={[]} />);
  expect(screen.getByText("image.svg")).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name: /^Save/ }));
  expect(screen.getByRole("alert").textContent).toBe("What the server sent is no file.");
});
