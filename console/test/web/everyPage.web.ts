import { expect } from 'chai';
import { ADMIN_KEY } from '../../../test/support/serviceProcess.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { everyPage, seed, type Seeded } from './support/seeded.ts';
import { startWorld, type World } from './support/world.ts';

describe('every page of the console', () => {
  let world: World;
  let seeded: Seeded;
  before(async () => {
    world = await startWorld();
    seeded = await seed(world);
  });
  after(() => world.close());

  for (const theme of ['light', 'dark'] as const)
    it(`has no serious finding and no fault of its policy in the ${theme} theme`, async () => {
      const found: string[] = [];
      for (const [name, path, key] of everyPage(seeded, ADMIN_KEY)) {
        const page = await world.open(path, { key, theme });
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        for (const finding of [...(await axeFindings(page)), ...faults(page)])
          found.push(`${name}: ${finding}`);
        await page.context().close();
      }
      expect(found).to.deep.equal([]);
    });

  it('fits a window of 390 pixels', async () => {
    const wide: string[] = [];
    for (const [name, path, key] of everyPage(seeded, ADMIN_KEY)) {
      const page = await world.open(path, { key, width: 390, height: 844 });
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width > 390) wide.push(`${name}: ${String(width)}`);
      await page.context().close();
    }
    expect(wide).to.deep.equal([]);
  });
});
