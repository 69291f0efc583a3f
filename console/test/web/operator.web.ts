import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from '../../../engine/test/support/until.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const TABS_MAX = 60;

/** Goes on by the Tab key until what has the focus is named so. */
const tabTo = async (page: Page, named: string): Promise<void> => {
  const seen: string[] = [];
  for (let pressed = 0; pressed < TABS_MAX; pressed += 1) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute('aria-label') ?? element?.textContent;
    });
    if (name === named) return;
    seen.push(String(name));
  }
  throw new Error(`the Tab key never reaches ${named}, but ${seen.join(', ')}`);
};

describe('the pages of an operator', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  const salesOf = async (tenant_id: string) =>
    (await world.admin.api.listGrants({ path: { tenant_id } })).items.filter(({ kind }) => kind === 'sale');

  const formToSell = async (tenant: string, paid: string): Promise<Page> => {
    const page = await world.open(`/tenants/${tenant}`);
    await page.getByRole('button', { name: 'Sell', exact: true }).click();
    await page.getByLabel('Paid, VAT included').fill(paid);
    return page;
  };

  it('book a sale once, however fast it is clicked twice', async () => {
    await world.tenant('twice', 1_000);
    const page = await formToSell('twice', '25.00');
    await page.getByRole('dialog').getByRole('button', { name: 'Sell', exact: true }).dblclick();
    await page.getByText('Booked', { exact: true }).waitFor();
    const paid = (await salesOf('twice')).map(({ gross_amount_minor }) => gross_amount_minor);
    expect(paid.filter((minor) => minor === 2_500)).to.have.length(1);
    expect(paid).to.have.length(2);
    expect(faults(page)).to.deep.equal([]);
  });

  it('book a sale once whose answer was lost, and say so at the next try', async () => {
    await world.tenant('lost', 1_000);
    const page = await formToSell('lost', '30.00');
    await page.route('**/v1/billing/credits', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    const sell = page.getByRole('dialog').getByRole('button', { name: 'Sell', exact: true });
    await sell.click();
    await page.getByText('The service was not reached').waitFor();
    expect(await page.getByLabel('Paid, VAT included').inputValue()).to.equal('30.00');
    await page.unroute('**/v1/billing/credits');
    await sell.click();
    await page.getByText(/^(Booked|Was booked before)/).waitFor();
    expect(await salesOf('lost')).to.have.length(2);
  });

  it('keep a tenant’s things for fewer days, and say how many there may be', async () => {
    await world.tenant('brief', 1_000);
    const page = await world.open('/tenants/brief');
    await page.getByRole('tab', { name: 'Data' }).click();
    const set = page.getByRole('button', { name: 'Set days' });
    await page.getByLabel('Uploads').fill('400');
    await set.click();
    await page.getByText('Must be at most 30, the days of the installation.').waitFor();
    await page.getByLabel('Uploads').fill('7');
    await set.click();
    await page.getByText('The days apply from the next sweep on.').waitFor();
    await page.getByText('7 days').waitFor();
    const { days } = await world.admin.api.getRetention({ path: { tenant_id: 'brief' } });
    expect(days).to.deep.include({ uploads: 7, deliveries: 30 });
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('say who a tenant is on its statements, and that it goes with the tenant', async () => {
    const tenant_id = 'billed';
    await world.tenant(tenant_id, 1_000);
    const month = new Date().toISOString().slice(0, 7);
    const page = await world.open(`/statements/${tenant_id}/${month}`);
    await page.getByRole('link', { name: 'Billing details' }).click();
    await page.getByText('statements and receipts show the tenant ID').waitFor();
    const save = page.getByRole('button', { name: 'Save details' });
    await save.click();
    await page.getByText('This is needed.').waitFor();
    await page.getByLabel('Legal name').fill('Larkspur Ltd');
    await page.getByLabel('Address').fill('1 Harbour Road\n\nExampletown');
    await save.click();
    await page.getByRole('alert').getByText('address').waitFor();
    await page.getByLabel('Address').fill('1 Harbour Road\nExampletown');
    await page.getByLabel('VAT ID').fill('DE123456789');
    await save.click();
    await page.getByText('Last changed').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.goto(`${world.url}/app/statements/${tenant_id}/${month}`);
    await page.getByText('Larkspur Ltd').waitFor();
    await page.getByText('VAT ID DE123456789').waitFor();
    await world.admin.api.eraseTenant({ path: { tenant_id } });
    await page.goto(`${world.url}/app/tenants/${tenant_id}?tab=billing`);
    await page.getByText('The details were erased with the tenant.').waitFor();
    expect(await page.getByLabel('Legal name').inputValue()).to.equal('');
    await page.goto(`${world.url}/app/statements/${tenant_id}/${month}`);
    await page.getByText('The texts of this tenant were erased.').waitFor();
    expect(await page.getByText('Larkspur').count()).to.equal(0);
    expect(faults(page)).to.deep.equal([]);
  });

  it('refund a sale by the keyboard alone', async () => {
    await world.tenant('keyboard', 5_000);
    const page = await world.open('/tenants/keyboard');
    await page.getByRole('button', { name: 'Refund', exact: true }).waitFor();
    await tabTo(page, 'Refund');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('grid').waitFor();
    await tabTo(page, 'Still refundable');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Refund', exact: true }).waitFor();
    await tabTo(page, 'Refund');
    await page.keyboard.press('Enter');
    await page.getByText('Booked', { exact: true }).waitFor();
    const { balance_credits } = await world.admin.api.getBalance({ path: { tenant_id: 'keyboard' } });
    expect(balance_credits).to.equal(0);
    expect(faults(page)).to.deep.equal([]);
  });

  it('keep the first choice of a refund where a double click opened it', async () => {
    await world.tenant('double', 5_000);
    const page = await world.open('/tenants/double');
    await page.getByRole('tab', { name: 'Sales and refunds' }).click();
    const row = page.getByRole('grid', { name: 'Sales and refunds' }).getByRole('row').last();
    const dialog = page.getByRole('dialog');
    for (const x of [30, 400, 700]) {
      await row.dblclick({ position: { x, y: 12 } });
      await dialog.getByText('Still refundable').waitFor();
      expect(await dialog.getByLabel('Everything that is left').isChecked(), String(x)).to.equal(true);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    await dialog.getByRole('grid').getByRole('row').last().dblclick();
    await dialog.getByLabel('Everything that is left').waitFor();
    expect(await dialog.getByLabel('Everything that is left').isChecked()).to.equal(true);
    expect(faults(page)).to.deep.equal([]);
  });

  it('show the margin report as the service gives it, to the last digit', async () => {
    const { quire } = await world.tenant('margin', 1);
    await world.admin.api.addCredits({
      body: {
        tenant_id: 'margin',
        provider_txn_id: 'paid',
        credits: 100_000,
        gross_amount_minor: 11_900,
        vat_amount_minor: 1_900,
        provider_fee_minor: 333,
      },
    });
    const text = 'Invoice number: A-1\n'.padEnd(3_000 * 60, 'Lorem ipsum dolor sit amet.\n');
    const schema = { type: 'object', properties: { invoice_number: { type: 'string' } } };
    await quire.extract({ file: new File([text], 'long.txt'), schema });
    const month = new Date().toISOString().slice(0, 7);
    const [year = 0, number = 1] = month.split('-').map(Number);
    const last = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
    const report = await world.admin.api.getMarginReport({ query: { start: `${month}-01`, end: last } });
    const page = await world.open('/finance');
    await page.getByRole('grid').first().waitFor();
    const { realized_margin: realized, unit_margin: unit, fx_effect_usd, deferred_revenue_usd } = report;
    expect(Number(realized.gross_usd), JSON.stringify(report)).to.not.equal(0);
    const figures = [
      realized.gross_usd,
      realized.net_revenue_usd,
      realized.margin_usd,
      unit.margin_usd,
      fx_effect_usd,
      deferred_revenue_usd,
    ];
    const isShown = async (): Promise<boolean> => {
      // a heading is short, and exact on hover
      const titles = await page
        .locator('main [title]')
        .evaluateAll((all) => all.map((one) => one.getAttribute('title')));
      const text = `${await page.locator('main').innerText()} ${titles.join(' ')}`;
      const shown = text.replaceAll(/[,\s]/g, '').replaceAll('−', '-');
      return figures.every((figure) => shown.includes(`${figure}USD`));
    };
    await until(isShown, 50);
    expect(faults(page)).to.deep.equal([]);
  });

  it('close a month in place, open it again with a reason, and say why another cannot be closed', async () => {
    const [first, second] = ['2026-01', '2026-02'];
    const page = await world.open(`/finance?tab=close&month=${first}`);
    const books = page.getByRole('region', { name: `Closing of ${first}` });
    await books.getByRole('button', { name: `Close ${first}` }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Close ${first}` })
      .click();
    await books.getByText('Closed', { exact: true }).waitFor();
    const { items } = await world.admin.api.listClosedMonths();
    expect(items.map(({ month, status }) => [month, status])).to.deep.equal([[first, 'closed']]);
    await page.getByLabel('Month (UTC)').fill('2026-03');
    await page.getByText(`Months are closed in order: ${second} comes next.`).waitFor();
    expect(await page.getByRole('button', { name: 'Close 2026-03' }).isDisabled()).to.equal(true);
    await page.getByLabel('Month (UTC)').fill(first);
    await books.getByRole('button', { name: 'Reopen' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Reopen' }).click();
    await dialog.getByText('Enter a reason.').waitFor();
    await dialog.getByLabel('Reason').fill('an invoice was booked twice');
    await dialog.getByRole('button', { name: 'Reopen' }).click();
    await books.getByText('an invoice was booked twice').waitFor();
    expect((await world.admin.api.listClosedMonths()).items).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('are not shown to a tenant, whose session reads nothing of another', async () => {
    const { key } = await world.tenant('insider');
    await world.tenant('outsider');
    const page = await world.open('/usage', { key });
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('link', { name: 'Finance' }).count()).to.equal(0);
    const statuses = await page.evaluate(async () => {
      const paths = ['/v1/billing/balance/outsider', '/v1/billing/grants/outsider', '/v1/admin/tenants'];
      const own = await fetch('/v1/billing/balance/insider');
      const others = await Promise.all(paths.map((path) => fetch(path)));
      return [own, ...others].map(({ status }) => status);
    });
    expect(statuses).to.deep.equal([200, 403, 403, 403]);
  });

  for (const [form, theme] of [
    ['Sell', 'light'],
    ['Refund', 'dark'],
    ['Adjust', 'light'],
    ['Set plan', 'dark'],
  ] as const)
    it(`have no serious finding in "${form}"`, async () => {
      await world.tenant(`axe-${theme}`, 1_000);
      const page = await world.open(`/tenants/axe-${theme}`, { theme });
      await page.getByRole('button', { name: form, exact: true }).click();
      await page.getByRole('dialog').waitFor();
      await page.waitForLoadState('networkidle');
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.context().close();
    });
});
