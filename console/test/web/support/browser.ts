import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';

export interface PageOptions {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** By fingers, as a phone is. */
  readonly isTouched?: boolean;
  /** IANA name of the machine's zone; left out: UTC. */
  readonly zone?: string;
}

/** Debian's; the one without any window takes two thirds of the time. */
const BROWSERS = ['/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium'];

/** Nothing is drawn by a graphics card, and no process of its own stands in for one. */
const NO_CARD = ['--disable-gpu', '--in-process-gpu'];

/** To a browser, `quire.test` is another machine than its own. */
const OTHER_MACHINES = '--host-resolver-rules=MAP *.test 127.0.0.1';

/** A browser without a window. Root, as in containers, has no sandbox. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: BROWSERS.find((path) => existsSync(path)) ?? 'chromium',
    args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), OTHER_MACHINES, ...NO_CARD],
  });

const faultsOf = new WeakMap<Page, string[]>();
const opened = new Set<Page>();

/** What every page shows that is still open, when a spec has failed in front of it. */
async function tellFailed(this: Mocha.Context): Promise<void> {
  if (this.currentTest?.state !== 'failed') return;
  for (const page of opened) {
    const shown = await page.locator('body').ariaSnapshot({ timeout: 5_000 }).catch(String);
    console.log(`${page.url()}\n${shown}\n${faults(page).join('\n')}`);
  }
}

// pictures and benchmarks open pages without specs
if ('afterEach' in globalThis) afterEach(tellFailed);

/** A page with cookies of its own, which notes what the browser complains of: see `faults`. */
export const openPage = async (
  browser: Browser,
  { theme = 'light', width = 1280, height = 800, zone = 'UTC', isTouched = false }: PageOptions,
): Promise<Page> => {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    timezoneId: zone,
    hasTouch: isTouched,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  opened.add(page);
  page.on('close', () => opened.delete(page));
  const faults: string[] = [];
  faultsOf.set(page, faults);
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    // an answer of 4xx is shown by the page and is no fault of it
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  return page;
};

/** What went wrong in a page: errors that nobody caught, and whatever its policy blocked. */
export const faults = (page: Page): readonly string[] => faultsOf.get(page) ?? [];
