import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { Quire } from '../../../sdk/src/index.ts';
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

  it('groups what was used by several things at once, and saves all rows as the API counts them', async () => {
    const tenant_id = 'grouped';
    const { key, quire } = await world.tenant(tenant_id, 50_000);
    const robot = await world.admin.api.createApiKey({
      body: { tenant_id, name: 'robot', tags: { team: 'night' } },
    });
    const charge = (by: Quire, idempotency_key: string, tags: Readonly<Record<string, string>>) =>
      by.api.chargeExamples({ body: { tenant_id, idempotency_key, tags } });
    await charge(quire, 'one', { team: 'claims', stage: 'live' });
    await charge(quire, 'two', { team: 'legal' });
    await charge(new Quire({ url: world.url, key: robot.key, tenant: tenant_id }), 'three', {});
    const page = await world.open('/usage?tab=groups', { key });
    const groups = page.getByRole('group', { name: 'Group by' });
    await groups.getByRole('button', { name: /^Tag .team.$/ }).click();
    await groups.getByRole('button', { name: 'Key', exact: true }).click();
    await groups.getByRole('button', { name: 'Operation', exact: true }).click();
    const rows = page.getByRole('grid', { name: 'Usage by group' });
    const cells = async () => (await rows.getByRole('gridcell').allInnerTexts()).map((text) => text.trim());
    await rows.getByRole('gridcell', { name: 'robot' }).waitFor();
    const found = await cells();
    const wide = found.length / 3;
    const firstTwo = [0, 1, 2].map((at) => found.slice(at * wide, at * wide + 2).join(' '));
    expect(firstTwo.toSorted()).to.deep.equal(['claims web', 'legal web', 'night robot']);
    await page.getByLabel('Total').getByText('15,000').waitFor();
    const chart = page.getByRole('table', { name: /^Credits by day and tag .team., days of UTC$/ });
    const drawn = await chart.getByRole('columnheader').allInnerTexts();
    expect(drawn.toSorted()).to.deep.equal(['claims', 'legal', 'night']);
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const saved = await readFile(await (await waiting).path(), 'utf8');
    expect(saved.trim().split('\r\n')).to.have.length(4);
    await page.getByLabel('Tag, as name:value').fill('team:legal');
    await page.keyboard.press('Enter');
    await page.getByLabel('Total').getByText('5,000').first().waitFor();
    await page.reload();
    await rows.getByRole('gridcell', { name: 'legal' }).waitFor();
    expect((await cells()).filter((text) => text === 'web')).to.have.length(1);
    await page.getByLabel('Name of a tag').fill('stage');
    await page.keyboard.press('Enter');
    await rows.getByRole('columnheader', { name: /^Tag .stage.$/ }).waitFor();
    await page.getByLabel('Tag, as name:value').fill('team');
    await page.keyboard.press('Enter');
    await page
      .getByRole('alert')
      .getByText(/Send <name>:<value>/)
      .waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('records who pays for top-ups with the sentence that is agreed to, and the customer takes it back', async () => {
    const tenant_id = 'topped';
    const { key } = await world.tenant(tenant_id, 1_500);
    const mine = await world.open('/usage?tab=top-up', { key });
    await mine.getByText('Nobody has agreed to top-ups.').waitFor();
    await mine.getByText('An operator records who pays').waitFor();
    const page = await world.open('/usage?tab=top-up');
    await page.getByLabel('Tenant').first().fill(tenant_id);
    await page.keyboard.press('Enter');
    await page.getByLabel('When the balance is below, in credits').fill('2,000');
    await page.getByLabel('Credits to buy').fill('10,000');
    await page.getByLabel('Most credits in a month').fill('5000');
    await page.getByRole('button', { name: 'Give the consent' }).click();
    await page.getByText('At least as many as are bought at a time.').waitFor();
    await page.getByText('Confirm that the payer agrees.').waitFor();
    await page.getByLabel('Most credits in a month').fill('50,000');
    await page.getByLabel(/^The payer agrees that 10,000 credits \([\d.,]+ [A-Z]{3}/).check();
    await page.getByRole('button', { name: 'Give the consent' }).click();
    await page.getByRole('alert').getByText('Nobody pays yet').waitFor();
    await page.getByLabel('Customer at the payment provider').fill('cus_1');
    await page.getByLabel('Payment method', { exact: true }).fill('pm_1');
    await page.getByRole('button', { name: 'Give the consent' }).click();
    await page.getByText('The consent and its limits are set.').waitFor();
    await page.getByText('10,000 credits are bought when the balance is below 2,000 credits').waitFor();
    await page.getByText('The balance is below the threshold: a top-up is due.').waitFor();
    const read = () => world.admin.api.getTopUp({ path: { tenant_id } });
    expect(await read()).to.deep.include({
      active: true,
      threshold_credits: 2_000,
      credits: 10_000,
      monthly_credits_max: 50_000,
      payer: 'cus_1',
      payment_method: 'pm_1',
    });
    await mine.reload();
    await mine.getByLabel('When the balance is below, in credits').fill('1000');
    await mine.getByLabel(/^The payer agrees/).check();
    await mine.getByRole('button', { name: 'Save and agree again' }).click();
    await mine.getByText('A top-up is due after 501 credits more are used.').waitFor();
    await mine.getByRole('button', { name: 'Withdraw the consent' }).click();
    await mine.getByText('The consent was withdrawn: nothing more is charged.').waitFor();
    await mine.getByText('Consent withdrawn', { exact: true }).waitFor();
    await mine.getByText('An operator records who pays').waitFor();
    expect(await read()).to.deep.include({ active: false, threshold_credits: 1_000, payer: 'cus_1' });
    expect(await axeFindings(mine)).to.deep.equal([]);
    expect([...faults(page), ...faults(mine)]).to.deep.equal([]);
  });

  it('says when the credits run out at the pace of late', async () => {
    const tenant_id = 'paced';
    const { key } = await world.tenant(tenant_id, 25_000);
    await world.admin.api.chargeExamples({ body: { tenant_id, idempotency_key: 'one' } });
    const page = await world.open('/usage', { key });
    // 20,000 credits at 5,000 in 28 days, and in 7
    await page.getByText('in 112 days', { exact: true }).waitFor();
    await page.getByText('at the pace of the last 28 days; in 28 days at that of the last 7').waitFor();
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
