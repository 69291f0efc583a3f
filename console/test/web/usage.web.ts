import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

describe('the page of usage', () => {
  let world: World;
  before(async () => {
    world = await startWorld({ FIELD_ENCRYPTION_KEY: randomBytes(32).toString('base64') });
  });
  after(() => world.close());

  it('shows the balance and what a quote says, as the API has them', async () => {
    const { key, quire } = await world.tenant('usage', 12_345);
    const page = await world.open('/usage', { key });
    await page.getByText('12,345').first().waitFor();
    await page.getByRole('tab', { name: 'Quote' }).click();
    await page.getByLabel('Pages').fill('120');
    const { credits } = await quire.api.getQuote({
      query: {
        tenant_id: 'usage',
        operation: 'extract',
        billing_type: 'full_service',
        pages: 120,
        extraction_mode: 'standard',
      },
    });
    await page.getByText(`${credits.toLocaleString('en')} Credits`).waitFor();
    await page.getByRole('tab', { name: 'Purchases' }).click();
    await page.getByRole('gridcell', { name: 'web-usage' }).waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('draws the days as the API sums them, and a line where the balance is low', async () => {
    const { key } = await world.tenant('charts', 12_345);
    await world.admin.api.chargeExamples({ body: { tenant_id: 'charts', idempotency_key: 'one' } });
    const page = await world.open('/usage?days=7', { key });
    const used = page.getByRole('table', { name: 'Credits by day, last 7 days (UTC)' });
    await used.getByRole('cell', { name: '5,000', exact: true }).waitFor();
    const balance = page.getByRole('table', { name: 'Balance by day, last 7 days (UTC)' });
    await balance.getByRole('cell', { name: '7,345', exact: true }).waitFor();
    expect(await balance.getByRole('cell').allInnerTexts()).to.deep.equal([
      '',
      '0',
      '0',
      '0',
      '0',
      '0',
      '0',
      '7,345',
    ]);
    await page.getByLabel('Low balance line').fill('8000');
    await page.getByText('The balance is below 8,000 credits.').waitFor();
    await balance.getByRole('columnheader', { name: 'Low balance: 8,000' }).waitFor();
    await page.reload();
    await balance.getByRole('columnheader', { name: 'Low balance: 8,000' }).waitFor();
    await world.admin.api.createWebhook({
      body: { tenant_id: 'charts', url: 'https://example.com/hook', events: ['*'], low_balance_credits: 500 },
    });
    await page.reload();
    await page.getByText('A webhook reports when the balance falls below 500 credits.').waitFor();
    await balance.getByRole('columnheader', { name: 'Low balance: 500' }).waitFor();
    expect(await page.getByLabel('Low balance line').count()).to.equal(0);
    expect(faults(page)).to.deep.equal([]);
  });

  for (const theme of ['light', 'dark'] as const)
    it(`has no serious finding in the ${theme} theme`, async () => {
      const { key } = await world.tenant(`usage-${theme}`);
      const page = await world.open('/usage?tab=grants', { key, theme });
      await page.getByRole('grid').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
    });
});
