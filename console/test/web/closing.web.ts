import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Download, Page } from 'playwright-core';
import { ADMIN_KEY } from '../../../test/support/serviceProcess.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { person } from './support/person.ts';
import { startWorld, type World } from './support/world.ts';

const TENANT = 'larkspur';
/** Sales of the month: more than a page of the list. */
const SALES = 205;

const now = new Date();
const middle = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 15, 12);
/** The month before this one, `YYYY-MM`. */
const MONTH = new Date(middle).toISOString().slice(0, 7);

/** Runs a process, with its threads, in the middle of last month: its clock goes on from there. */
const inLastMonth = (): Readonly<Record<string, string>> => {
  const by = middle - Date.now();
  const code = `const Now = Date;
    globalThis.Date = class extends Now {
      constructor(...given) { if (given.length === 0) super(Now.now() + ${String(by)}); else super(...given); }
      static now() { return Now.now() + ${String(by)}; }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
};

const sell = async ({ admin }: World): Promise<void> => {
  const prices = ['EUR', 'USD'].map((currency) => ({ currency, price_per_1000_credits: '10.00' }));
  await admin.api.publishCreditPrices({ body: { entries: prices } });
  const sale = { tenant_id: TENANT, provider: 'stripe', credits: 1_000, currency: 'EUR' };
  const amounts = { gross_amount_minor: 1_190, vat_amount_minor: 190, tax_rate: '19', tax_country: 'DE' };
  for (let n = 1; n <= SALES; n += 1)
    await admin.api.addCredits({ body: { ...sale, ...amounts, provider_txn_id: `pi_${String(n)}` } });
  await admin.api.addCredits({
    body: {
      tenant_id: 'brindlemere',
      provider: 'paypal',
      provider_txn_id: 'p-1',
      credits: 500,
      currency: 'USD',
    },
  });
};

const bytesOf = async (download: Download): Promise<Buffer> => readFile(await download.path());

/** The file that a click saves. */
const savedBy = async (page: Page, press: () => Promise<void>): Promise<Download> => {
  const saved = page.waitForEvent('download');
  await press();
  return saved;
};

/** A decimal of the page, such as `−1,234.500000 USD`, in millionths. */
const micro = (shown: string): bigint => {
  const [, sign, whole = '0', part = ''] = /([−-]?)([\d,]+)(?:\.(\d+))?/.exec(shown) ?? [];
  const units = BigInt(whole.replaceAll(',', '') + part.padEnd(6, '0'));
  return sign === undefined || sign === '' ? units : -units;
};

describe('the books of a month', () => {
  let world: World;
  before(async () => {
    world = await startWorld(inLastMonth());
    const rates = { USD: '1.10' };
    await world.admin.api.publishFxRates({ body: { date: `${MONTH}-14`, base: 'EUR', rates } });
    await sell(world);
    await world.stop();
    await world.startAgain({ NODE_OPTIONS: '' });
  });
  after(() => world.close());

  it('list every payment of all tenants, filtered, with sums by currency, and save the whole list', async () => {
    const page = await world.open(`/books?month=${MONTH}`);
    await page.getByText(`200 of ${String(SALES + 1)} rows`).waitFor();
    const sums = page.getByRole('grid', { name: `Sums by currency ${MONTH}` });
    await sums.getByText('2,439.50').waitFor();
    const list = page.getByRole('grid', { name: `Payments ${MONTH}` });
    const save = page.getByRole('button', { name: 'CSV' }).last();
    const whole = (await bytesOf(await savedBy(page, () => save.click()))).toString('utf8');
    expect(whole.startsWith('\uFEFF')).to.equal(true);
    expect(whole.trimEnd().split('\r\n')).to.have.length(SALES + 2);
    await page.getByText(`payments-${MONTH}.csv: ${String(SALES + 1)} rows`).waitFor();
    const filter = page.getByLabel('Currency', { exact: true });
    await filter.fill('usd');
    await filter.press('Enter');
    await page.getByText('1 row', { exact: true }).last().waitFor();
    expect(await list.getByRole('row').count()).to.equal(2);
    expect(await sums.getByText('2,439.50').count()).to.equal(0);
    expect(new URL(page.url()).searchParams.get('currency')).to.equal('USD');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText(`200 of ${String(SALES + 1)} rows`).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('lead from a payment to its receipt, and from there to its statement, each as PDF and CSV', async () => {
    const page = await world.open(`/books?month=${MONTH}&tenant_id=${TENANT}`);
    await page.getByRole('link', { name: 'Receipt' }).first().click();
    await page.getByText(`R-${TENANT}-000205`).first().waitFor();
    await page.getByText('11.90').waitFor();
    const pdf = await savedBy(page, () => page.getByRole('button', { name: 'PDF' }).click());
    expect(pdf.suggestedFilename()).to.equal(`R-${TENANT}-000205.pdf`);
    expect((await bytesOf(pdf)).subarray(0, 5).toString()).to.equal('%PDF-');
    const csv = await savedBy(page, () => page.getByRole('button', { name: 'CSV' }).click());
    expect((await bytesOf(csv)).toString()).to.include(`R-${TENANT}-000205`);
    await page.getByRole('link', { name: MONTH, exact: true }).click();
    await page.getByRole('heading', { name: `Statement ${MONTH}` }).waitFor();
    await page.getByRole('grid').getByText('Opening balance').waitFor();
    expect(await page.getByText('205,000').count()).to.be.greaterThan(0);
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('show a tenant its own statements, and no other’s', async () => {
    const { key } = await world.tenant('insider');
    const page = await world.open('/statements', { key });
    await page.getByRole('grid', { name: 'Statements of insider' }).waitFor();
    await page.goto(`${world.url}/app/statements/${TENANT}/${MONTH}`);
    await page.getByRole('alert').waitFor();
    expect(await page.getByText('205,000').count()).to.equal(0);
    expect(await page.getByRole('link', { name: 'Books' }).count()).to.equal(0);
  });

  it('are closed from an empty browser: sign in, close, see the journal, keep a statement', async () => {
    const page = await world.open('/', { key: undefined });
    const began = performance.now();
    const { did, click, type } = person();
    await type(page.getByLabel('API key'), ADMIN_KEY);
    await click(page.getByRole('button', { name: 'Sign in', exact: true }));
    await click(page.getByRole('link', { name: 'Finance' }));
    await click(page.getByRole('tab', { name: 'Close a month' }));
    const closing = page.getByRole('region', { name: `Closing of ${MONTH}` });
    await closing.waitFor();
    expect(
      await page
        .getByRole('listitem')
        .filter({ hasText: /^\d\. / })
        .count(),
    ).to.equal(9);
    await click(page.getByRole('button', { name: 'Run an audit' }));
    await page.getByText('The last audit found 0 things wrong.').waitFor();
    await click(closing.getByRole('button', { name: `Close ${MONTH}` }));
    await click(page.getByRole('dialog').getByRole('button', { name: `Close ${MONTH}` }));
    await closing.getByText('Closed', { exact: true }).waitFor();
    await click(page.getByRole('listitem').filter({ hasText: 'Keep the figures' }).getByRole('link'));
    const accounts = page.getByRole('grid', { name: `Accounts ${MONTH}` });
    await accounts.waitFor();
    const cells = await accounts.getByRole('gridcell').allInnerTexts();
    const sumOf = (column: number): bigint =>
      cells.filter((_, at) => at % 3 === column).reduce((sum, shown) => sum + micro(shown), 0n);
    expect(sumOf(1) > 0n && sumOf(1) === sumOf(2), cells.join(' ')).to.equal(true);
    await click(page.getByRole('link', { name: TENANT }).first());
    await click(page.locator('main').getByRole('link', { name: 'Statements' }));
    await click(page.getByRole('link', { name: MONTH, exact: true }));
    await page.getByText('Final', { exact: true }).waitFor();
    const statement = await savedBy(page, () => click(page.getByRole('button', { name: 'PDF' })));
    const seconds = (performance.now() - began) / 1_000;
    expect((await bytesOf(statement)).subarray(0, 5).toString()).to.equal('%PDF-');
    const { items } = await world.admin.api.listClosedMonths();
    expect(items.map(({ month, status }) => [month, status])).to.deep.equal([[MONTH, 'closed']]);
    console.log(
      `      ${String(did.clicks)} clicks and ${String(did.typed)} field: ${seconds.toFixed(1)} s without thinking`,
    );
    expect(did).to.deep.equal({ clicks: 11, typed: 1 });
    expect(faults(page)).to.deep.equal([]);
  });

  it('are files for other programs: the journal as DATEV, and what the closing page keeps', async () => {
    const page = await world.open(`/books?tab=journal&month=${MONTH}`);
    const datev = await savedBy(page, () => page.getByRole('button', { name: 'DATEV' }).click());
    expect((await bytesOf(datev)).toString('latin1')).to.include('EXTF');
    await page.goto(`${world.url}/app/finance?tab=close&month=${MONTH}`);
    const saved = async (name: string): Promise<Buffer> =>
      bytesOf(await savedBy(page, () => page.getByRole('button', { name, exact: true }).click()));
    for (const name of ['Margin', 'VAT', 'Deferred revenue', 'Usage by day'])
      expect((await saved(name)).length, name).to.be.greaterThan(20);
    const [titles, ...balances] = (await saved('Balances')).toString().trimEnd().split('\r\n');
    expect(titles).to.match(/tenant_id,plan,balance_credits,/);
    expect(balances).to.have.length((await world.admin.api.listTenants({ query: { limit: 1 } })).total);
    expect(await page.getByText('quire audit').count(), 'no step needs the command line').to.equal(0);
    expect(faults(page)).to.deep.equal([]);
  });
});
