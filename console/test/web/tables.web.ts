import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

/** More than a page of a list has. */
const TENANTS = 260;
const POSTINGS = 450;
const AT_ONCE = 25;

describe('a table', () => {
  let world: World;

  const adjust = (tenant_id: string, credits: number, reason: string) =>
    world.admin.api.adjustCredits({ path: { tenant_id }, body: { credits, reason } });
  const inGroups = async (count: number, work: (at: number) => Promise<unknown>): Promise<void> => {
    for (let from = 0; from < count; from += AT_ONCE)
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => work(from + at)));
  };

  before(async () => {
    world = await startWorld();
    await adjust('the-richest', 1_000_000, 'first of all');
    await adjust('busy', 1, 'the oldest posting');
    await inGroups(TENANTS - 2, (at) => adjust(`tenant-${String(at)}`, at + 1, 'start'));
    await inGroups(POSTINGS - 1, (at) => adjust('busy', 1 + (at % 7), `posting ${String(at)}`));
  });
  after(() => world.close());

  const firstRow = (page: Page) => page.getByRole('grid').getByRole('row').nth(1);
  const saved = async (page: Page): Promise<readonly string[]> => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV', exact: true }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    return text.trim().split('\r\n').slice(1);
  };

  it('sorts all rows, not those that it has loaded, and says how many it has', async () => {
    const page = await world.open('/tenants');
    const poorest = await world.admin.api.listTenants({ query: { sort: 'balance_credits', limit: 1 } });
    await page.getByText(`1–200 of ${String(poorest.total)} rows`).waitFor();
    // the newest tenants come first: the richest is not among them
    expect(await page.getByText('the-richest').count()).to.equal(0);
    await page.getByRole('button', { name: 'Balance' }).click();
    await firstRow(page).getByText('the-richest').waitFor();
    await firstRow(page).getByText('1,000,000').first().waitFor();
    await page.getByRole('button', { name: 'Balance' }).click();
    const poor = String(poorest.items[0]?.tenant_id);
    await firstRow(page).getByText(poor, { exact: true }).waitFor();
    const rows = await saved(page);
    expect(rows).to.have.length(poorest.total);
    expect(rows[0]?.startsWith(`${poor},`)).to.equal(true);
    expect(rows.at(-1)?.startsWith('the-richest,')).to.equal(true);
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('finds a row that it has not loaded, and saves what it found', async () => {
    const page = await world.open('/tenants/busy?tab=ledger');
    await page.getByText(`1–200 of ${String(POSTINGS)} rows`).waitFor();
    const filter = page.getByLabel('Filter: Ledger');
    await filter.fill('OLDEST posting');
    await page.getByText('1 row', { exact: true }).waitFor();
    await firstRow(page).getByText('the oldest posting').waitFor();
    expect(await saved(page)).to.have.length(1);
    await filter.fill('nothing of this kind');
    await page.getByText('No row has this text.').waitFor();
    await page.getByText('0 rows', { exact: true }).waitFor();
    await filter.fill('');
    await page.getByText(`1–200 of ${String(POSTINGS)} rows`).waitFor();
    expect(await saved(page)).to.have.length(POSTINGS);
    expect(faults(page)).to.deep.equal([]);
  });

  it('loads the next rows as one goes on by keys, up to the last', async () => {
    const page = await world.open('/tenants/busy?tab=ledger', { theme: 'dark' });
    const grid = page.getByRole('grid', { name: 'Ledger' });
    await page.getByText(`1–200 of ${String(POSTINGS)} rows`).waitFor();
    expect(await grid.getAttribute('aria-rowcount')).to.equal(String(POSTINGS + 1));
    await grid.focus();
    await page.keyboard.press('End');
    await page.getByText(`1–400 of ${String(POSTINGS)} rows`).waitFor();
    await page.keyboard.press('End');
    await page.getByText(`${String(POSTINGS)} rows`, { exact: true }).waitFor();
    await page.keyboard.press('End');
    await grid.getByText('the oldest posting').waitFor();
    expect(await page.getByRole('button', { name: 'Load more' }).count()).to.equal(0);
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('has the focus where it was, when one comes back from what was opened in it', async () => {
    const page = await world.open('/tenants');
    const grid = page.getByRole('grid', { name: 'All tenants' });
    await grid.focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.waitForURL('**/app/tenants/*');
    await page.getByRole('tab', { name: 'Ledger' }).waitFor();
    await page.goBack();
    await page.locator('[role=grid]:focus').waitFor();
    expect(await grid.getAttribute('aria-activedescendant')).to.equal('All tenants-3');
    await page.keyboard.press('ArrowDown');
    expect(await grid.getAttribute('aria-activedescendant')).to.equal('All tenants-4');
    expect(faults(page)).to.deep.equal([]);
  });

  it('that has all of its rows asks nobody to sort or filter them', async () => {
    await adjust('quiet', 5, 'one');
    for (const reason of ['two', 'three', 'four']) await adjust('quiet', 7, reason);
    const page = await world.open('/tenants/quiet?tab=ledger', { width: 390, height: 844 });
    await page.getByText('4 rows', { exact: true }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.getByLabel('Filter: Ledger').fill('three');
    await page.getByText('1 of 4 rows').waitFor();
    expect(asked.filter((url) => url.includes('/ledger'))).to.deep.equal([]);
    expect(await axeFindings(page)).to.deep.equal([]);
  });
});
