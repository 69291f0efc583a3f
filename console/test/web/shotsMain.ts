import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openSeen, PAGES, seed } from './support/seeded.ts';
import type { PageOptions } from './support/browser.ts';
import { startWorld } from './support/world.ts';

/**
 * `npm run web:shots [-- <page> …]`: a picture of every page, or of those named, in both themes and in a narrow window,
 * to look at.
 */
const only = process.argv.slice(2);
const folder = process.env['SHOTS_DIR'] ?? 'data/shots';

const LOOKS: Readonly<Record<string, PageOptions>> = {
  light: { theme: 'light', width: 1440, height: 900 },
  dark: { theme: 'dark', width: 1440, height: 900 },
  narrow: { theme: 'light', width: 390, height: 844 },
};

/** The playground is worth looking at with a document that was read. */
const readSample = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Invoice', exact: true }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('[data-cost]').waitFor();
  await page.locator('button[data-value="/grand_total"]').click();
};

/** What a person sees first: sticky parts stand wrong in a picture of the whole page. */
const shoot = async (page: Page, name: string, path: string): Promise<void> => {
  await page.getByRole('heading', { level: 1 }).waitFor();
  if (name === 'playground') await readSample(page);
  if (name.startsWith('review-') || name === 'review')
    await page.locator('[data-page] canvas').first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path });
  await page.context().close();
};

await mkdir(folder, { recursive: true });
const world = await startWorld();
try {
  const seeded = await seed(world);
  for (const page of PAGES) {
    const { name } = page;
    if (only.length > 0 && !only.includes(name)) continue;
    for (const [look, options] of Object.entries(LOOKS))
      await shoot(
        await openSeen(world, { page, seeded, ...options }),
        name,
        join(folder, `${name}.${look}.png`),
      );
    process.stdout.write(`${name}\n`);
  }
  process.stdout.write(`Pictures are in ${folder}.\n`);
} finally {
  await world.close();
}
