import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings } from './support/axe.ts';
import { faults, type PageOptions } from './support/browser.ts';
import { openSeen, PAGES, seed, type Seeded } from './support/seeded.ts';
import { startWorld, type World } from './support/world.ts';

describe('every page of the console', () => {
  let world: World;
  let seeded: Seeded;
  before(async () => {
    world = await startWorld();
    seeded = await seed(world);
  });
  after(() => world.close());

  const opened = async (page: (typeof PAGES)[number], options: PageOptions): Promise<Page> => {
    const shown = await openSeen(world, { page, seeded, ...options });
    await shown.getByRole('heading', { level: 1 }).waitFor();
    await shown.waitForLoadState('networkidle');
    return shown;
  };

  for (const page of PAGES) {
    it(`has no serious finding and no fault of its policy in either theme: ${page.name}`, async () => {
      const shown = await opened(page, { theme: 'light' });
      const light = await axeFindings(shown);
      await shown.emulateMedia({ colorScheme: 'dark' });
      const dark = await axeFindings(shown);
      expect({ light, dark, faults: faults(shown) }).to.deep.equal({ light: [], dark: [], faults: [] });
      await shown.context().close();
    });

    it(`fits a window of 390 pixels: ${page.name}`, async () => {
      const shown = await opened(page, { width: 390, height: 844 });
      expect(await shown.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(390);
      await shown.context().close();
    });
  }
});
