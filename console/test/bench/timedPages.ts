import type { Page } from 'playwright-core';

/** What the browser read for what is shown, in bytes as they came over the line. */
export const bytesRead = (page: Page): Promise<number> =>
  page.evaluate(() =>
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce(
      (sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize,
      0,
    ),
  );

/** Milliseconds from pressing "Sign in" until the place for a document is there. */
export const timedSignIn = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const until = async <Found>(look: () => Found | null | undefined): Promise<Found> => {
      for (;;) {
        const found = look();
        if (found != null) return found;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    };
    const began = performance.now();
    document.querySelector<HTMLButtonElement>('button[type=submit]')?.click();
    await until(() => document.querySelector('input[type=file]'));
    return performance.now() - began;
  });

/** Milliseconds from a click on the sample. */
export interface FirstResult {
  /** Until its first page is drawn. */
  readonly drawnMs: number;
  /** Until its first value is there; "Run" is pressed as soon as it can be. */
  readonly valueMs: number;
}

export const timedFirstResult = (page: Page, sample: string): Promise<FirstResult> =>
  page.evaluate(async (name) => {
    const buttons = () => [...document.querySelectorAll('button')];
    const until = async (look: () => Element | undefined | null): Promise<Element> => {
      for (;;) {
        const found = look();
        if (found != null) return found;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    };
    const button = (text: string) =>
      buttons().find((one) => one.textContent.trim() === text && !one.disabled);
    const began = performance.now();
    button(name)?.click();
    const drawn = until(() => document.querySelector('[data-page="1"] canvas:not([width="0"])')).then(
      () => performance.now() - began,
    );
    await until(() => button('Run'));
    button('Run')?.click();
    await until(() => document.querySelector('button[data-value]'));
    const valueMs = performance.now() - began;
    return { drawnMs: await drawn, valueMs };
  }, sample);

/** What holds the page up for longer than 50 ms, as the browser counts it. */
export interface LongTasks {
  readonly count: number;
  readonly longestMs: number;
  readonly sumMs: number;
}

/** Has the page count its long tasks from its first script on. */
export const countLongTasks = async (page: Page): Promise<void> => {
  await page.addInitScript(() => {
    const found: number[] = [];
    Object.assign(window, { longTasks: found });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) found.push(duration);
    }).observe({ type: 'longtask', buffered: true });
  });
};

export const longTasks = (page: Page): Promise<LongTasks> =>
  page.evaluate(() => {
    const found = (window as unknown as { readonly longTasks: readonly number[] }).longTasks;
    return {
      count: found.length,
      longestMs: Math.max(0, ...found),
      sumMs: found.reduce((sum, one) => sum + one, 0),
    };
  });
