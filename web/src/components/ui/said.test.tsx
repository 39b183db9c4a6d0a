import { render } from "@testing-library/react";
import { expect, test } from "vitest";

import { Said } from "./said";

const html = (text: string) => render(<p><Said text={text} /></p>).container.querySelector("p")!;

test("names between backticks are told apart, everything else stays words", () => {
  const said = html("no tool is named `core__x`: try `toolgate tool list`.");
  expect([...said.querySelectorAll("code")].map((code) => code.textContent)).toEqual(["core__x", "toolgate tool list"]);
  expect(said.textContent).toBe("no tool is named core__x: try toolgate tool list.");
});

test("a lone backtick, code and characters nobody sees do no harm", () => {
  expect(html("it is ` alone").textContent).toBe("it is ` alone");
  expect(html("<b>`<i>`</b>").textContent).toBe("<b><i></b>");
  expect(html("a\u202Eb").textContent).toBe("a‹U+202E›b");
});
