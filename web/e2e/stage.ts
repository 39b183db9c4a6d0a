/**
 * What most files need: a gate with the fixture tools, and a browser in which its first administrator is signed in. Importing
 * this sets it up before the tests of a file and takes it away after them; after each test nothing may have gone wrong
 * in the page.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";

import { launch, open, setUp, type Watched } from "./browser";
import { Gate } from "./gate";

export let gate: Gate;
export let browser: Browser;
export let watched: Watched;
export let page: Page;

beforeAll(async () => {
  gate = await Gate.start();
  browser = await launch();
  watched = await open(browser);
  page = watched.page;
  await setUp(page, gate);
});

afterEach(() => expect(watched.wrong.splice(0)).toEqual([]));

afterAll(async () => {
  await browser?.close();
  await gate?.stop();
});
