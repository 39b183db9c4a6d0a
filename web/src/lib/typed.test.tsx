import { fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { expect, test, vi } from "vitest";

import { useTyped } from "./typed";

function Narrowed({ heard }: { heard: (wanted: string) => void }) {
  const [value, setValue] = useState("");
  const [typed, setTyped] = useTyped(value, (wanted) => {
    heard(wanted);
    setValue(wanted);
  });
  return (
    <>
      <input aria-label="Search" value={typed} onChange={(event) => setTyped(event.target.value)} />
      <button onClick={() => setValue("")}>Clear</button>
    </>
  );
}

test("what is typed stays as it is typed, and is told when typing pauses", async () => {
  const heard = vi.fn();
  render(<Narrowed heard={heard} />);
  const field = screen.getByLabelText<HTMLInputElement>("Search");
  const type = (value: string) => fireEvent.change(field, { target: { value } });
  type("b");
  type("blue ");
  await vi.waitFor(() => expect(heard.mock.calls).toEqual([["blue"]]));
  expect(field.value).toBe("blue ");
  type("blue sky");
  await vi.waitFor(() => expect(heard.mock.calls).toEqual([["blue"], ["blue sky"]]));
  fireEvent.click(screen.getByRole("button", { name: "Clear" }));
  expect(field.value).toBe("");
});
