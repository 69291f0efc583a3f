import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { prepareDataDir } from '../../../test/support/preparedData.ts';
import { leaveStrandedClaim } from '../../../test/support/strandedClaim.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { invoiceSchema } from './support/seeded.ts';
import { startWorld, type World } from './support/world.ts';

const RATES = 'Date,USD,GBP,\n2026-01-30,1.1919,0.8656,\n2026-01-29,1.1974,0.8668,\n';

/** What an operator needed the command line for once; nothing works here, so that what waits stays waiting. */
describe('an operator without a command line', () => {
  let world: World;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quire-web-stranded-'));
    await mkdir(join(folder, 'own'));
    await prepareDataDir(join(folder, 'own'));
    await leaveStrandedClaim(join(folder, 'own'));
  });
  before(async () => {
    world = await startWorld({ DATA_DIR: join(folder, 'own'), ROLES: 'api,projector' });
  });
  after(async () => {
    await world.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('releases a payment that is stuck, with a reason', async () => {
    const page = await world.open('/books?tab=open');
    await page.getByRole('button', { name: 'Release: pi_sale_v1' }).click();
    const release = page.getByRole('button', { name: 'Release the payment' });
    await release.click();
    await page.getByText('Enter a reason.').waitFor();
    await page.getByLabel('Reason').fill('settled by bank transfer');
    await release.click();
    await page.getByText('No open payments').waitFor();
    expect((await world.admin.api.listOpenPayments()).items).to.deep.equal([]);
    await page.goto(`${world.url}/app/audit?type=PaymentReleased`);
    await page.getByText('Payment pi_sale_v1 released').waitFor();
    await page.getByText('settled by bank transfer').waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('changes a billing rate and the free pages, and sees who published what', async () => {
    const page = await world.open('/finance?tab=billing');
    const rates = page.getByRole('grid', { name: 'Billing rates' });
    await rates.getByRole('row').nth(1).waitFor();
    const [grid, credits] = [
      await rates.boundingBox(),
      await rates.getByRole('columnheader', { name: 'Credits per page' }).boundingBox(),
    ];
    if (grid === null || credits === null) throw new Error('the rates are not shown');
    expect(credits.x + credits.width, 'what is paid is seen without scrolling').to.be.at.most(
      grid.x + grid.width,
    );
    await rates.getByRole('row').nth(1).click();
    await page.getByLabel('Credits per page').fill('7');
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Credits per page: version 2').waitFor();
    await page.getByLabel('Free pages of a tenant').fill('12');
    await page.getByLabel('Note (optional)').fill('spring offer');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('Credits per page: version 3').waitFor();
    await page.getByRole('gridcell', { name: 'spring offer' }).waitFor();
    const { active } = await world.admin.api.getBillingConfigHistory();
    expect(active).to.include({ version: 3, free_pages: 12, note: 'spring offer' });
    expect(active.rates.map(({ credits_per_page }) => credits_per_page)).to.include(7);
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('imports a file of exchange rates, and corrects them only when asked', async () => {
    const page = await world.open('/finance?tab=rates');
    const take = (text: string) =>
      page
        .locator('input[type=file]')
        .setInputFiles({ name: 'eurofxref.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await page.getByText('Drop a file here').waitFor();
    await take(RATES);
    await page.getByText(/^2 new days, 0 known, 0 corrected/).waitFor();
    await take(RATES.replace('1.1919', '1.2019'));
    await page.getByText('2026-01-30 USD: 1.1919 is known, the file says 1.2019').waitFor();
    await page.getByRole('button', { name: 'The file is right: correct the rates' }).click();
    await page.getByText(/^0 new days, 1 known, 1 corrected/).waitFor();
    const query = { base: 'EUR', quote: 'USD', on: '2026-01-30' };
    expect(await world.admin.api.getFxRate({ query })).to.include({ rate: '1.2019' });
  });

  it('seals the log, and is told why a lock is refused', async () => {
    const page = await world.open('/audit?tab=seals');
    await page.getByLabel('Lock for (days)').fill('30');
    await page.getByRole('button', { name: 'Seal the log' }).click();
    await page.getByText('The log cannot be sealed').waitFor();
    await page.getByLabel('Lock for (days)').fill('');
    await page.getByRole('button', { name: 'Seal the log' }).click();
    await page.getByRole('grid', { name: 'Seals' }).getByRole('gridcell', { name: 'Not checked' }).waitFor();
    expect((await world.admin.api.listSeals()).items).to.have.lengthOf(1);
  });

  it('cancels an operation that waits', async () => {
    const { quire } = await world.tenant('queued');
    const file = new File(['Invoice number: Q-1\n'], 'q.txt', { type: 'text/plain' });
    const schema = await invoiceSchema();
    const { operation_id } = await quire.extractLater({ file, schema });
    const page = await world.open('/work');
    await page.getByRole('combobox', { name: 'Tenant' }).first().fill('queued');
    await page.getByRole('combobox', { name: 'Tenant' }).first().press('Enter');
    await page.getByRole('gridcell', { name: 'Queued' }).waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel the operation' }).click();
    await page.getByRole('gridcell', { name: 'Cancelled' }).waitFor();
    expect(await quire.api.getOperation({ path: { operation_id } })).to.include({ status: 'cancelled' });
  });

  it('erases a tenant after its ID was typed', async () => {
    const { quire } = await world.tenant('leaving');
    const page = await world.open('/tenants/leaving?tab=data');
    await page.getByRole('button', { name: 'Erase the data' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('leavin');
    await dialog.getByRole('button', { name: 'Erase for good' }).click();
    await page.getByText('This is not the ID of the tenant.').waitFor();
    await dialog.getByRole('textbox').fill('leaving');
    await dialog.getByRole('button', { name: 'Erase for good' }).click();
    await page.getByText(/^(Everything is erased|Erasing:)/).waitFor();
    const refused = await quire.api.getBalance({ path: { tenant_id: 'leaving' } }).then(
      () => 'answered',
      () => 'refused',
    );
    expect(refused).to.equal('refused');
  });

  it('finds tenants, pages and calls of the API in the palette', async () => {
    await world.tenant('zebra-works');
    const page = await world.open('/overview');
    const look = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('Page, tenant, document').fill(text);
    };
    await page.getByRole('heading', { level: 1 }).waitFor();
    await look('zebra');
    await page.getByRole('option', { name: 'zebra-works' }).click();
    await page.getByRole('heading', { level: 1, name: 'zebra-works' }).waitFor();
    await look('webhooks/{webhook_id}/test');
    await page.getByRole('option', { name: /Send a test message to a webhook/ }).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await look('billing ra');
    await page.keyboard.press('Escape');
    await look('webhooks');
    await page.getByRole('option', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('looks in the audit for what somebody did, and prints all of it without the navigation', async () => {
    const tenant_id = 'printed';
    await world.tenant(tenant_id);
    const { key } = await world.admin.api.createApiKey({
      body: { tenant_id, role: 'admin', name: 'Night shift' },
    });
    for (let n = 1; n <= 60; n += 1)
      await fetch(`${world.url}/v1/admin/tenants/${tenant_id}/adjust-credits`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ credits: n, reason: `goodwill ${String(n)}` }),
      });
    const page = await world.open(`/audit?tenant=${tenant_id}`);
    await page.getByLabel('Text', { exact: true }).fill('goodwill 17');
    await page.getByLabel('Text', { exact: true }).press('Enter');
    await page.getByText('Balance adjusted by 17 credits').waitFor();
    const events = page.getByRole('option');
    expect(await events.count()).to.equal(1);
    await events.first().click();
    await page
      .getByRole('dialog')
      .getByText(/Night shift/)
      .waitFor();
    await page.getByRole('button', { name: 'Only this one' }).click();
    await page.getByRole('button', { name: 'Clear filters' }).waitFor();
    await page.getByLabel('Text', { exact: true }).fill('');
    await page.getByLabel('Text', { exact: true }).press('Enter');
    await page.getByText('Balance adjusted by 60 credits').waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.getByText('Balance adjusted by 1 credit,').waitFor();
    expect(await events.count()).to.equal(60);
    expect(await page.getByRole('navigation').count()).to.equal(0);
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).to.equal(false);
  });
});
