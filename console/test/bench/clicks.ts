import type { CDPSession, Locator, Page } from 'playwright-core';
import { fixture, invoiceSchema } from '../web/support/seeded.ts';
import { startWorld, type World } from '../web/support/world.ts';

const TENANT = 'clicked';

/** What a tab holds once everything that can be freed was. */
interface Held {
  /** Clicks until then. */
  readonly clicks: number;
  readonly seconds: number;
  readonly heapMb: number;
  readonly nodes: number;
  readonly listeners: number;
}

const heldNow = async (session: CDPSession, since: { clicks: number; began: number }): Promise<Held> => {
  // what a first collection lets go of may hold more
  for (let time = 0; time < 3; time += 1) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
  return {
    clicks: since.clicks,
    seconds: Math.round((performance.now() - since.began) / 1_000),
    heapMb: Math.round(usedSize / 100_000) / 10,
    nodes,
    listeners: jsEventListeners,
  };
};

const settled = async (page: Page): Promise<void> => {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
};

/** Whether there was something to click on. */
const clickOn = async (page: Page, what: Locator): Promise<boolean> => {
  if ((await what.count()) === 0) return false;
  await what.first().click();
  await settled(page);
  return true;
};

/** All ways of the side, in turn, and on each page every tab and the first row that leads further. */
async function* wayThrough(page: Page): AsyncGenerator {
  const side = page.getByRole('navigation', { name: 'Menu' }).getByRole('link');
  for (let at = 0; at < (await side.count()); at += 1) {
    await side.nth(at).click();
    await settled(page);
    yield at;
    const tabs = page.locator('main').getByRole('tab');
    for (let tab = 1; tab < (await tabs.count()); tab += 1) if (await clickOn(page, tabs.nth(tab))) yield at;
    if (await clickOn(page, page.locator('main [role=gridcell] a[href*="/app/"]'))) yield at;
  }
}

/** A sample in the playground: its document is drawn beside the editor of its schema. */
const drawSample = async (page: Page): Promise<void> => {
  await page.getByRole('link', { name: 'Playground' }).click();
  const other = page.getByRole('button', { name: 'Replace document' });
  const sample = page.getByRole('button', { name: 'Invoice', exact: true });
  await other.or(sample).first().waitFor();
  if ((await other.count()) > 0) await other.click();
  await sample.click();
  await page.locator('[data-page="1"] canvas').waitFor();
};

/** One click after the other, for ever. */
async function* clicking(page: Page): AsyncGenerator {
  for (;;) {
    await drawSample(page);
    yield* wayThrough(page);
  }
}

/** A tab of an operator who acts for a customer. */
const openedTab = async (world: World): Promise<Page> => {
  const { quire } = await world.tenant(TENANT, 100_000);
  await quire.extract({ file: await fixture('invoice.pdf'), schema: await invoiceSchema() });
  const page = await world.open('/overview');
  await settled(page);
  await page.getByRole('banner').getByLabel('Tenant').fill(TENANT);
  await page.keyboard.press('Enter');
  return page;
};

/** Clicks through the console, in one tab that is never loaded again; tells what it holds at each of some counts. */
export async function* heldByClicks(counts: readonly number[]): AsyncGenerator<Held> {
  const world = await startWorld();
  try {
    const page = await openedTab(world);
    const session = await page.context().newCDPSession(page);
    const began = performance.now();
    const left = [...counts];
    let clicks = 0;
    for await (const _ of clicking(page)) {
      clicks += 1;
      if (clicks !== left[0]) continue;
      yield await heldNow(session, { clicks, began });
      left.shift();
      if (left.length === 0) return;
    }
  } finally {
    await world.close();
  }
}
