import type { Page } from "playwright-core";

/** One thing a person did. Both times run from the key or the click. */
export type Answer = {
  /** Until the next picture was on the screen, as the browser itself reports it (Event Timing). */
  next: number;
  /** Until the last change that followed was on the screen, whatever the server had to be asked for. */
  done: number;
};

type Stopwatch = { begin: (quiet: number) => void; end: () => Promise<Answer> };

/** Puts the stopwatch into every page that is opened from now on. */
export async function installStopwatch(page: Page): Promise<void> {
  await page.addInitScript(() => {
    let started = 0;
    let next = 0;
    let painted = 0;
    let quiet = 150;
    let changed = 0;
    // Keys and clicks, not their moving about: what a person counts from.
    const begins = (event: Event) => (started ||= event.timeStamp);
    for (const name of ["keydown", "pointerdown"]) window.addEventListener(name, begins, true);
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (started > 0 && entry.startTime >= started) next = Math.max(next, entry.duration);
    }).observe({ type: "event", durationThreshold: 16, buffered: false } as PerformanceObserverInit);
    const watch = () =>
      new MutationObserver(() => {
        if (started === 0) return;
        changed = performance.now();
        // The frame this change is drawn in, and a task right after it.
        requestAnimationFrame(() => {
          const channel = new MessageChannel();
          channel.port1.onmessage = () => (painted = performance.now());
          channel.port2.postMessage(0);
        });
      }).observe(document, { subtree: true, childList: true, characterData: true });
    watch();
    (window as unknown as { stopwatch: Stopwatch }).stopwatch = {
      begin(wait) {
        [started, next, painted, changed, quiet] = [0, 0, 0, 0, wait];
      },
      async end() {
        const patience = performance.now() + 10_000;
        while (performance.now() < patience) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          const now = performance.now();
          if (started > 0 && now - Math.max(changed, painted, started) > quiet) break;
        }
        const answer = { next, done: Math.max(0, painted - started) };
        started = 0;
        return answer;
      },
    };
  });
}

/** What an act costs. `quiet`: how long nothing must have changed before it counts as over. */
export async function timed(page: Page, act: () => Promise<unknown>, quiet = 150): Promise<Answer> {
  await page.evaluate((wait) => (window as unknown as { stopwatch: Stopwatch }).stopwatch.begin(wait), quiet);
  await act();
  return page.evaluate(() => (window as unknown as { stopwatch: Stopwatch }).stopwatch.end());
}

/** Turns the wheel, and says how long each frame took meanwhile. */
export async function framesWhileScrolling(page: Page, turns: number, by: number): Promise<number[]> {
  await page.evaluate(() => {
    const frames: number[] = [];
    let last = performance.now();
    const tick = (now: number) => {
      frames.push(now - last);
      last = now;
      if ((window as unknown as { frames: number[] | null }).frames) requestAnimationFrame(tick);
    };
    (window as unknown as { frames: number[] }).frames = frames;
    requestAnimationFrame(tick);
  });
  for (let turn = 0; turn < turns; turn += 1) {
    await page.mouse.wheel(0, by);
    await page.waitForTimeout(16);
  }
  return page.evaluate(() => {
    const { frames } = window as unknown as { frames: number[] };
    (window as unknown as { frames: null }).frames = null;
    return frames.slice(1);
  });
}
