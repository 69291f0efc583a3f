import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const TENANT = 'an-account-with-a-rather-long-name';
/** The most credits of one movement: 13 digits. */
const MOST = 1_000_000_000_000;
/** Whatever follows it on its line is shown from right to left. */
const TURNED = 'abc\u202Edef';

/** Figures, times, buttons and names of columns that a page shows only in part. */
const cutOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const whole = [...document.querySelectorAll('[data-whole]')];
    return whole
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ textContent }) => textContent);
  });

describe('figures on every page', () => {
  let world: World;
  /** Of the tenant. */
  let key = '';
  before(async () => {
    world = await startWorld();
    const date = new Date().toISOString().slice(0, 10);
    await world.admin.api.publishFxRates({ body: { date, base: 'EUR', rates: { USD: '1.10' } } });
    const entries = ['EUR', 'USD'].map((currency) => ({ currency, price_per_1000_credits: '10.00' }));
    await world.admin.api.publishCreditPrices({ body: { entries } });
    const sale = { tenant_id: TENANT, credits: MOST, currency: 'EUR', provider: 'stripe' };
    const paid = {
      gross_amount_minor: MOST + MOST / 5,
      vat_amount_minor: MOST / 5,
      provider_fee_minor: 7_777_777,
    };
    await world.admin.api.addCredits({ body: { ...sale, ...paid, provider_txn_id: 'pi_most' } });
    ({ key } = await world.admin.api.createApiKey({ body: { tenant_id: TENANT, name: TURNED } }));
  });
  after(() => world.close());

  const PLACES = {
    'the account': `/tenants/${TENANT}`,
    'sales and refunds': `/tenants/${TENANT}?tab=grants`,
    tenants: '/tenants',
    payments: '/books',
    VAT: '/books?tab=tax',
    'deferred revenue': '/books?tab=deferred',
    journal: '/books?tab=journal',
    margin: '/finance',
  } as const;
  const OWN_PLACES = { overview: '/overview', usage: '/usage', keys: '/keys' } as const;

  for (const [name, path] of Object.entries({ ...PLACES, ...OWN_PLACES }))
    for (const width of [1_440, 390])
      it(`are whole in a window of ${String(width)} pixels: ${name}`, async () => {
        const by = name in OWN_PLACES ? { key } : {};
        const page = await world.open(path, { width, height: 900, zone: 'Pacific/Auckland', ...by });
        await page.waitForLoadState('networkidle');
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.locator('[data-whole]').first().waitFor();
        expect(await cutOf(page)).to.deep.equal([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(width);
        expect(faults(page)).to.deep.equal([]);
        await page.context().close();
      });

  it('show the tab that was chosen on a phone', async () => {
    const page = await world.open('/books?tab=payout', { width: 390, height: 844 });
    const tab = page.getByRole('tab', { name: 'Payout file' });
    await tab.waitFor();
    const { x = 0, width = 0 } = (await tab.boundingBox()) ?? {};
    expect(x).to.be.greaterThan(0);
    expect(x + width).to.be.at.most(390);
    await page.context().close();
  });

  it('show "Rotate" and "Revoke" of a key without scrolling, and ask by a name that turns nothing around', async () => {
    const page = await world.open('/keys', { width: 1_440, height: 900, key });
    const revoke = page.getByRole('button', { name: 'Revoke:' });
    await revoke.waitFor();
    const grid = await page.getByRole('grid').boundingBox();
    const button = await revoke.boundingBox();
    if (grid === null || button === null) throw new Error('the table is not shown');
    expect(button.x + button.width).to.be.at.most(grid.x + grid.width);
    await revoke.click();
    const asked = page.getByRole('dialog');
    await asked.waitFor();
    const left = (await asked.innerText()).replaceAll(`\u2068${TURNED}\u2069`, '');
    expect(left).to.include('Revoke').and.to.not.include('\u202E');
    await page.context().close();
  });

  it('say in which zone their times are, and show them in UTC when asked', async () => {
    const page = await world.open('/books', { zone: 'Pacific/Auckland' });
    await page.getByText('Times in Pacific/Auckland').waitFor();
    const time = page.getByRole('grid').last().locator('time').first();
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    const shown = (timeZone: string): string =>
      new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(at);
    expect(await time.innerText()).to.equal(shown('Pacific/Auckland'));
    await page.getByRole('button', { name: 'Show in UTC' }).click();
    await page.getByText('Times in UTC').waitFor();
    expect(await time.innerText()).to.equal(shown('UTC'));
    await page.reload();
    await page.getByText('Times in UTC').waitFor();
    expect(await page.getByRole('grid').last().locator('time').first().innerText()).to.equal(shown('UTC'));
    await page.context().close();
  });
});
