import { expect, test } from "vitest";

import { clipped, visible } from "./visible";

test("what nobody would see is named, and the rest stays", () => {
  expect(visible("pay \u202Egnp.exe\u200B")).toBe("pay ‹U+202E›gnp.exe‹U+200B›");
  expect(visible("\u{E0041}x\uFEFF")).toBe("‹U+E0041›x‹U+FEFF›");
  expect(visible("\u{1F3F4}\u{E0041}\u{E007F}")).toBe("\u{1F3F4}‹U+E0041›‹U+E007F›");
  const england = "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}";
  expect(visible(`a${england}b${england}`)).toBe(`a${england}b${england}`);
  expect(visible("葛\u{E0100}城市")).toBe("葛\u{E0100}城市");
  for (const plain of ["", "Ada Lovelace", "naïve — “quoted”", "日本語", "עברית", "👩‍💻"]) expect(visible(plain)).toBe(plain);
});

test("long texts end, and say how long they are", () => {
  expect(clipped("short", 10)).toBe("short");
  expect(clipped("x".repeat(2000), 3)).toBe("xxx… (2,000 characters)");
});
