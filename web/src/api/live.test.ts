import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";

import { askAgain } from "./live";

/** A list that someone looks at; each answer comes when it is let through. */
function shown() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const answers: { give: (list: string[]) => void; fail: () => void }[] = [];
  const observer = new QueryObserver<string[]>(client, {
    queryKey: ["inbox", "list", "mine"],
    queryFn: () => new Promise((give, fail) => answers.push({ give, fail: () => fail(new Error("away")) })),
  });
  const stop = observer.subscribe(() => undefined);
  const settled = () => new Promise((resolve) => setTimeout(resolve));
  return { client, answers, settled, stop, list: () => observer.getCurrentResult().data };
}

test("a first answer that is older than the news is shown, and asked for once more", async () => {
  const { client, answers, settled, stop, list } = shown();
  askAgain(client, ["inbox", "list"]);
  askAgain(client, ["inbox"]);
  expect(answers.length).toBe(1);
  answers[0]!.give([]);
  await settled();
  expect(list()).toEqual([]);
  expect(answers.length, "asked for once more, however much happened").toBe(2);
  answers[1]!.give(["a call"]);
  await settled();
  expect(list()).toEqual(["a call"]);
  expect(answers.length).toBe(2);
  stop();
});

test("what is shown already is asked for at once, and once", async () => {
  const { client, answers, settled, stop, list } = shown();
  answers[0]!.give([]);
  await settled();
  askAgain(client);
  await settled();
  expect(answers.length).toBe(2);
  answers[1]!.give(["a call"]);
  await settled();
  expect([list(), answers.length]).toEqual([["a call"], 2]);
  stop();
});

test("a first answer that never came is asked for again", async () => {
  const { client, answers, settled, stop, list } = shown();
  askAgain(client);
  answers[0]!.fail();
  await settled();
  expect(answers.length).toBe(2);
  answers[1]!.give(["a call"]);
  await settled();
  expect(list()).toEqual(["a call"]);
  stop();
});

test("other lists are left alone, and so is what nobody looks at any more", async () => {
  const { client, answers, settled, stop } = shown();
  askAgain(client, ["runs"]);
  answers[0]!.give([]);
  await settled();
  expect(answers.length).toBe(1);
  stop();
  askAgain(client);
  await settled();
  expect(answers.length).toBe(1);
});
