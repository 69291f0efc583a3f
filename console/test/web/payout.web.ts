import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const HEADER =
  'balance_transaction_id,created_utc,reporting_category,source_id,payment_intent_id,currency,gross,fee,net,' +
  'automatic_payout_id';
/** More rows than the service's answer has findings. */
const MANY = 10_000;

describe('the comparison with a payout file', () => {
  let world: World;
  /** The day of the sales. */
  let day = '';
  before(async () => {
    world = await startWorld();
    const entries = [{ currency: 'EUR', price_per_1000_credits: '10.00' }];
    await world.admin.api.publishCreditPrices({ body: { entries } });
    const sale = { tenant_id: 'larkspur', provider: 'stripe', credits: 1_000, currency: 'EUR' };
    const paid = { gross_amount_minor: 1_190, vat_amount_minor: 190 };
    for (const [name, fee] of Object.entries({ pi_same: 65, pi_fee: 65, pi_unseen: 65 }))
      await world.admin.api.addCredits({
        body: { ...sale, ...paid, provider_txn_id: name, provider_fee_minor: fee, payout_id: 'po_1' },
      });
    const { items } = await world.admin.api.listPayments();
    day = items[0]?.occurred_at.slice(0, 10) ?? '';
  });
  after(() => world.close());

  const charge = (n: number, payment: string, fee = '0.65'): string =>
    `txn_${String(n)},${day} 10:00:00,charge,ch_${String(n)},${payment},eur,11.90,${fee},11.25,po_1`;

  const choose = async (page: Page, text: string | Buffer, name = 'payout.csv'): Promise<void> => {
    const buffer = typeof text === 'string' ? Buffer.from(text) : text;
    await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer });
    await page.getByText(name, { exact: true }).waitFor();
  };
  const compare = (page: Page): Promise<void> => page.getByRole('button', { name: 'Compare' }).click();

  it('names what is missing, what is there twice and what differs, in figures, sums and rows', async () => {
    const page = await world.open('/books');
    await page.getByRole('tab', { name: 'Payout file' }).click();
    const twice = charge(4, 'pi_twice');
    const account = `txn_5,${day} 11:00:00,fee,,,eur,-2.00,0.00,-2.00,po_1`;
    const rows = [charge(1, 'pi_same'), charge(2, 'pi_fee', '0.70'), charge(3, 'pi_strange'), account];
    await choose(page, [HEADER, ...rows, twice, twice].join('\n'));
    await compare(page);
    await page.getByText('Differs', { exact: true }).waitFor();
    const counts = page.getByRole('grid', { name: 'Findings' });
    const found = await counts.getByRole('row').allInnerTexts();
    const inBrief = found.slice(1).map((row) => row.split('\n').slice(0, 2).join(' '));
    expect(inBrief).to.deep.equal([
      'Missing in books 2',
      'Missing in file 1',
      'Twice in file 1',
      'Other fee 1',
    ]);
    const sums = page.getByRole('grid', { name: 'Sums of the file and of the books' });
    expect(await sums.getByText('59.50').count(), await sums.innerText()).to.equal(1);
    await page.getByRole('grid', { name: 'Rows that are no payments' }).getByText('−2.00').waitFor();
    await counts.getByText('Other fee').click();
    const differences = page.getByRole('grid', { name: 'Differences' });
    await page.getByText('1 row', { exact: true }).last().waitFor();
    const [, only = ''] = await differences.getByRole('row').allInnerTexts();
    expect(only).to.include('0.70').and.to.include('0.65').and.to.include('pi_fee');
    await page.getByRole('combobox', { name: 'Show' }).click();
    await page.getByRole('option', { name: 'All findings' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).last().click();
    const file = (await readFile(await (await saved).path())).toString('utf8');
    expect(file.startsWith('\uFEFFfinding,')).to.equal(true);
    expect(file.trimEnd().split('\r\n')).to.have.length(6);
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('says in the service’s words what is wrong with a file that is no CSV, and takes another one', async () => {
    const page = await world.open('/books?tab=payout', { theme: 'dark' });
    await choose(page, await readFile('test/fixtures/invoice.pdf'), 'invoice.pdf');
    await compare(page);
    const said = await page.getByRole('alert').innerText();
    expect(said)
      .to.match(/UTF-8|header|row/i)
      .and.to.not.include('undefined');
    await page.getByRole('button', { name: 'Another file' }).click();
    await page.getByText('Drop a CSV here').waitFor();
    expect(await page.getByRole('alert').count()).to.equal(0);
    await choose(page, [HEADER, charge(1, 'pi_same', 'much')].join('\n'));
    await compare(page);
    await page.getByText('Row 1: "much" is not an amount.').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('reads another provider’s file by an own mapping, and only the payments of one payout', async () => {
    const page = await world.open('/books?tab=payout', { width: 390, height: 844 });
    const mapping = {
      provider: 'stripe',
      amounts: 'decimal',
      decimal_separator: ',',
      columns: { type: ['Art'], row_id: 'Nr', currency: 'W', amount: 'Betrag', fee: 'F', date: ['Tag'] },
      names: { sale: ['Zahlung'] },
      types: { zahlung: 'sale' },
    };
    const rows = ['pi_same', 'pi_fee', 'pi_unseen'].map(
      (name, n) => `zahlung,${String(n)},${name},EUR,"11,90","0,65",`,
    );
    await choose(page, ['Art,Nr,Zahlung,W,Betrag,F,Tag', ...rows.map((row) => row + day)].join('\n'));
    await page.getByRole('combobox', { name: 'Columns' }).click();
    await page.getByRole('option', { name: 'Own mapping' }).click();
    await page.getByLabel('Own mapping', { exact: true }).fill('');
    await compare(page);
    await page.getByText('Enter the mapping.').waitFor();
    await page
      .getByLabel('Own mapping', { exact: true })
      .fill(JSON.stringify({ ...mapping, amounts: 'pence' }));
    await compare(page);
    await page.getByRole('alert').getByText('amounts').waitFor();
    await page.getByLabel('Own mapping', { exact: true }).fill(JSON.stringify(mapping));
    await page.getByLabel('Payout (optional)').fill('po_1');
    await compare(page);
    await page.getByText('Matches', { exact: true }).waitFor();
    await page.getByText('Payout po_1').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(390);
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('shows, filters and finds among all of 10,000 differences', async () => {
    const page = await world.open('/books?tab=payout');
    const strange = Array.from({ length: MANY }, (_, n) => charge(n + 10, `pi_strange_${String(n)}`));
    const known = [charge(1, 'pi_same'), charge(2, 'pi_fee', '0.70'), charge(3, 'pi_unseen')];
    await choose(page, [HEADER, ...strange, ...known].join('\n'));
    await compare(page);
    await page.getByText('10,001 rows').waitFor();
    const differences = page.getByRole('grid', { name: 'Differences' });
    expect(await differences.getByRole('row').count()).to.be.within(5, 100);
    await page.getByLabel('Filter: Differences').fill('txn_9876');
    await page.getByText('1 row', { exact: true }).last().waitFor();
    await page.getByLabel('Filter: Differences').fill('');
    await page.getByRole('combobox', { name: 'Show' }).click();
    await page.getByRole('option', { name: 'Other fee' }).click();
    await differences.getByText('pi_fee').waitFor();
    expect(await differences.getByRole('row').count()).to.equal(2);
    expect(faults(page)).to.deep.equal([]);
  });
});
