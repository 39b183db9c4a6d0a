import { fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";

import { ConfirmButton } from "./confirm-button";

const shown = () => {
  const onSure = vi.fn();
  render(<ConfirmButton title="Remove…" sure="Yes, remove it" onSure={onSure} />);
  return onSure;
};

test("nothing happens before the second press", async () => {
  const onSure = shown();
  await userEvent.click(screen.getByRole("button", { name: "Remove…" }));
  expect(onSure).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole("button", { name: "Yes, remove it" }));
  expect(onSure).toHaveBeenCalledTimes(1);
  expect(screen.getByRole("button", { name: "Remove…" })).toBeTruthy();
});

test("a key held down decides nothing", async () => {
  const onSure = shown();
  await userEvent.tab();
  await userEvent.keyboard("{Enter}{Enter}{Enter}");
  expect(onSure).not.toHaveBeenCalled();
});

test("the second press of a double click decides nothing", async () => {
  const onSure = shown();
  await userEvent.click(screen.getByRole("button", { name: "Remove…" }));
  fireEvent.click(screen.getByRole("button", { name: "Yes, remove it" }), { detail: 2 });
  expect(onSure).not.toHaveBeenCalled();
});
