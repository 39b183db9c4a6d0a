import { expect, test } from "vitest";

import { answerOf } from "./answer";

function form(html: string): HTMLFormElement {
  document.body.innerHTML = `<form>${html}</form>`;
  return document.querySelector("form")!;
}

test("questions are answered by their ids; what is empty is left out", () => {
  const questions = form(
    `<input name="q-name" value=" Ada "><input name="q-age" type="number" value="36.5"><textarea name="q-more"></textarea>`,
  );
  expect(answerOf(questions, null)).toEqual({ name: "Ada", age: 36.5 });
});

test("yes, no and options are answered as what they are", () => {
  const questions = form(
    `<select name="q-sure" data-boolean><option value=""></option><option value="false" selected>No</option></select>
     <select name="q-city"><option value="rome" selected>Rome</option></select><select name="q-none"><option value=""></option></select>
     <input type="checkbox" name="q-tags" value="a" checked><input type="checkbox" name="q-tags" value="b"><input type="checkbox" name="q-tags" value="c" checked>`,
  );
  expect(answerOf(questions, null)).toEqual({ sure: false, city: "rome", tags: ["a", "c"] });
});

test("options are answered as a list, even when there is one", () => {
  const options = (one: string, two: string) =>
    form(`<fieldset data-choose><input type="checkbox" name="chosen" value="a" ${one}><input type="checkbox" name="chosen" value="b" ${two}></fieldset>`);
  expect(answerOf(options("checked", "checked"), null)).toEqual({ chosen: ["a", "b"] });
  expect(answerOf(options("", "checked"), null)).toEqual({ chosen: ["b"] });
  expect(answerOf(options("", ""), null)).toEqual({ chosen: [] });
});

test("a statement is agreed to, not agreed to, or not answered", () => {
  const said = (value: string, notes: string) =>
    form(`<fieldset data-approve><input type="radio" name="approved" value="${value}" checked></fieldset><textarea name="notes">${notes}</textarea>`);
  expect(answerOf(said("yes", ""), null)).toEqual({ approved: true });
  expect(answerOf(said("no", "later"), null)).toEqual({ approved: false, notes: "later" });
  expect(answerOf(form(`<fieldset data-approve></fieldset>`), null)).toEqual({ approved: null });
});
