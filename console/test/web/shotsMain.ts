import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openSeen, PAGES, seed } from './support/seeded.ts';
import type { PageOptions } from './support/browser.ts';
import { startWorld } from './support/world.ts';

/**
 * `npm run web:shots [-- <page> …]`: a picture of every page, or of those named, in both themes and on a phone, to look
 * at. `--docs` makes those that the documents show.
 */
const isForDocs = process.argv.includes('--docs');
const IN_DOCS = ['playground', 'review', 'audit', 'finance'];
const only = isForDocs ? IN_DOCS : process.argv.slice(2);
const folder = isForDocs ? 'docs/images' : (process.env['SHOTS_DIR'] ?? 'data/shots');

/** Charts and pages of documents are drawn meanwhile, on a busy machine too. */
const STILL_MS = 700;
const STILL_TRIES = 20;

const LOOKS: Readonly<Record<string, PageOptions>> = {
  light: { theme: 'light', width: 1440, height: 900 },
  dark: { theme: 'dark', width: 1440, height: 900 },
  narrow: { theme: 'light', width: 390, height: 844, isTouched: true },
};
const looks = Object.entries(isForDocs ? { light: { theme: 'light' as const } } : LOOKS);

/** The playground is worth looking at with a document that was read; free pages are read at once. */
const readSample = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Invoice', exact: true }).click();
  await page.locator('button[data-value="/grand_total"]').click();
};

/** A picture of what has been drawn to its end: the same twice. Some pages always move. */
const still = async (page: Page): Promise<Buffer> => {
  let before = await page.screenshot();
  for (let left = STILL_TRIES; left > 0; left -= 1) {
    await page.waitForTimeout(STILL_MS);
    const now = await page.screenshot();
    if (now.equals(before)) return now;
    before = now;
  }
  return before;
};

/** What a person sees first: sticky parts stand wrong in a picture of the whole page. */
const shoot = async (page: Page, name: string, path: string): Promise<void> => {
  await page.getByRole('heading', { level: 1 }).waitFor();
  if (name === 'playground') await readSample(page);
  if (name.startsWith('review-') || name === 'review')
    await page.locator('[data-page] canvas').first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => scrollTo(0, 0));
  await writeFile(path, await still(page));
  await page.context().close();
};

await mkdir(folder, { recursive: true });
const world = await startWorld();
try {
  const seeded = await seed(world);
  const { key: newcomer } = await world.tenant('brightwater');
  for (const page of PAGES) {
    const { name } = page;
    if (only.length > 0 && !only.includes(name)) continue;
    for (const [look, options] of looks)
      await shoot(
        name === 'playground'
          ? await world.open('/playground', { ...options, key: newcomer })
          : await openSeen(world, { page, seeded, ...options }),
        name,
        join(folder, isForDocs ? `${name}.png` : `${name}.${look}.png`),
      );
    process.stdout.write(`${name}\n`);
  }
  process.stdout.write(`Pictures are in ${folder}.\n`);
} finally {
  await world.close();
}
