import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test, vi } from "vitest";

import { ToolForm } from "./tool-form";

function show(schema: unknown, first: unknown = {}) {
  const sent = vi.fn();
  function Page() {
    const [value, setValue] = useState<unknown>(first);
    return (
      <ToolForm schema={schema} value={value} onChange={setValue} onSubmit={sent}>
        <button type="submit">Run</button>
      </ToolForm>
    );
  }
  render(<Page />);
  return { sent, run: () => userEvent.click(screen.getByRole("button", { name: "Run" })) };
}

const object = (properties: object, required: string[] = []) => ({ type: "object", properties, required });

test("a number is sent as a number, and what is empty is not sent", async () => {
  const { sent, run } = show(object({ cost: { type: "number" }, note: { type: "string" } }, ["cost"]));
  await userEvent.type(screen.getByLabelText("Cost"), "12.5");
  await userEvent.type(screen.getByLabelText(/^Note/), "x");
  await userEvent.clear(screen.getByLabelText(/^Note/));
  await run();
  expect(sent).toHaveBeenCalledWith({ cost: 12.5 });
});

test("what is missing is said above the form and at the field", async () => {
  const { sent, run } = show(object({ cost: { type: "number", description: "In euros." } }, ["cost"]));
  await run();
  expect(sent).not.toHaveBeenCalled();
  expect(screen.getByRole("alert").textContent).toContain("Cost: Fill this in.");
  const field = screen.getByLabelText("Cost");
  expect(field.getAttribute("aria-invalid")).toBe("true");
  const described = field.getAttribute("aria-describedby")!.split(" ").map((id) => document.getElementById(id)?.textContent);
  expect(described).toEqual(["In euros.", "Fill this in."]);
  await userEvent.click(within(screen.getByRole("alert")).getByRole("button"));
  expect(document.activeElement).toBe(field);
});

test("rows are added with focus, moved and taken away by name", async () => {
  const item = { type: "object", title: "Criterion", properties: { name: { type: "string" }, weight: { type: "number" } } };
  const { sent, run } = show(object({ criteria: { type: "array", items: item } }, ["criteria"]));
  await userEvent.click(screen.getByRole("button", { name: "Add criterion" }));
  expect(document.activeElement).toBe(screen.getByLabelText("Name"));
  await userEvent.keyboard("Fit");
  await userEvent.click(screen.getByRole("button", { name: "Add criterion" }));
  await userEvent.keyboard("Cost");
  await userEvent.click(screen.getByRole("button", { name: "Move criterion 2 up" }));
  await run();
  expect(sent).toHaveBeenLastCalledWith({ criteria: [{ name: "Cost" }, { name: "Fit" }] });
  await userEvent.click(screen.getByRole("button", { name: "Remove criterion 1" }));
  await run();
  expect(sent).toHaveBeenLastCalledWith({ criteria: [{ name: "Fit" }] });
});

test("few values are radio buttons, many a list", async () => {
  const many = { enum: ["a", "b", "c", "d", "e"] };
  const { sent, run } = show(object({ depth: { enum: ["quick", "deep"] }, unit: many }));
  await userEvent.click(screen.getByRole("radio", { name: "Deep" }));
  await userEvent.selectOptions(screen.getByLabelText(/^Unit/), "C");
  await run();
  expect(sent).toHaveBeenCalledWith({ depth: "deep", unit: "c" });
});

test("a choice of shapes shows the fields of the chosen one", async () => {
  const period = {
    title: "Period",
    oneOf: [
      { title: "Quarter", type: "object", properties: { quarter: { type: "string" } }, required: ["quarter"] },
      { title: "Range", type: "object", properties: { from: { type: "string" } }, required: ["from"] },
    ],
  };
  const { sent, run } = show(object({ period }, ["period"]));
  await userEvent.click(screen.getByRole("radio", { name: "Range" }));
  await userEvent.type(screen.getByLabelText("From"), "May");
  await run();
  expect(sent).toHaveBeenCalledWith({ period: { from: "May" } });
});

test("conditional fields come and go, and what went is not sent", async () => {
  const schema = {
    ...object({ kind: { enum: ["a", "other"] } }, ["kind"]),
    if: { properties: { kind: { const: "other" } }, required: ["kind"] },
    then: { properties: { which: { type: "string" } } },
  };
  const { sent, run } = show(schema);
  expect(screen.queryByLabelText(/^Which/)).toBeNull();
  await userEvent.click(screen.getByRole("radio", { name: "Other" }));
  await userEvent.type(screen.getByLabelText(/^Which/), "x");
  await userEvent.click(screen.getByRole("radio", { name: "A" }));
  await waitFor(() => expect(screen.queryByLabelText(/^Which/)).toBeNull());
  await run();
  expect(sent).toHaveBeenCalledWith({ kind: "a" });
});

test("a group that may be left out is left out until it is added", async () => {
  const group = object({ options: { type: "array", items: { type: "string" } } }, ["options"]);
  const { sent, run } = show(object({ choose: group }));
  await run();
  expect(sent).toHaveBeenLastCalledWith({});
  await userEvent.click(screen.getByRole("button", { name: "Add Choose" }));
  await userEvent.click(screen.getByRole("button", { name: "Add option" }));
  await userEvent.keyboard("one");
  await run();
  expect(sent).toHaveBeenLastCalledWith({ choose: { options: ["one"] } });
  await userEvent.click(screen.getByRole("button", { name: "Remove Choose" }));
  await run();
  expect(sent).toHaveBeenLastCalledWith({});
});

test("values that are no plain fields are written as JSON", async () => {
  const { sent, run } = show(object({ anything: {}, map: { type: "object", additionalProperties: { type: "number" } } }, ["map"]));
  await userEvent.click(screen.getByLabelText(/^Map/));
  await userEvent.paste('{"a": 1}');
  await run();
  expect(sent).toHaveBeenLastCalledWith({ map: { a: 1 } });
});

test("hostile texts are texts", () => {
  show(object({ x: { type: "string", title: "<img src=x onerror=alert(1)>", description: "<script>alert(1)</script>" } }));
  expect(document.querySelector("script, img")).toBeNull();
  expect(screen.getByLabelText(/<img src=x/)).toBeDefined();
});
