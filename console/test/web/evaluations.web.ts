import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from '../../../engine/test/support/until.ts';
import type { Quire } from '../../../sdk/src/index.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { fixture, measure, type Measured, reviewed } from './support/seeded.ts';
import { startWorld, type World } from './support/world.ts';

const TENANT = 'measuring';

describe('the page of evaluations', () => {
  let world: World;
  let measured: Measured;
  let quire: Quire;
  let key: string;
  before(async () => {
    world = await startWorld();
    ({ quire, key } = await world.tenant(TENANT, 100_000));
    await world.admin.api.publishCreditPrices({
      body: { entries: [{ currency: 'USD', price_per_1000_credits: '1.00' }] },
    });
    measured = await measure(world, quire, TENANT);
  });
  after(() => world.close());

  const isWithin = async (page: Page, selector: string): Promise<boolean> =>
    page.locator(selector).evaluate((box) => {
      const [seen, at] = [
        box.closest('[data-scrolls]')?.getBoundingClientRect(),
        box.getBoundingClientRect(),
      ];
      return seen !== undefined && at.top >= seen.top && at.bottom <= seen.bottom;
    });
  const looksRight = async (page: Page): Promise<void> => {
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(width).to.be.at.most(0);
  };

  for (const look of [{ theme: 'light' }, { theme: 'dark', width: 390, height: 844 }] as const)
    it(`says in all how well documents are read, and what would help (${look.theme})`, async () => {
      const page = await world.open('/evaluations', { key, ...look });
      const [, run_id = ''] = measured.runs;
      const run = await quire.api.getEvaluationRun({ path: { run_id } });
      const percent = (score: number | null): string => `${((score ?? -1) * 100).toFixed(1)} %`;
      await page.getByText(percent(run.f1), { exact: true }).first().waitFor();
      const usd = `${((run.credits_used ?? 0) / 1_000).toFixed(2)} USD by the price list`;
      await page.getByText(usd).waitFor();
      await page.getByText(/^delivery address: wrong or missing in 1 of 1 places/).waitFor();
      await page.getByText(/^2 fields better, 0 worse\./).waitFor();
      const curve = page.getByRole('table', { name: 'F1 by run of this set, the oldest first' });
      expect(await curve.getByRole('cell').allInnerTexts()).to.include(percent(run.f1));
      expect(await curve.getByRole('row').count()).to.equal(3);
      await page.getByRole('figure').first().locator('.recharts-line').first().waitFor({ state: 'attached' });
      await looksRight(page);
      await page.context().close();
    });

  it('shows each wrong value at its place in the document, what was read and what should be', async () => {
    const page = await world.open('/evaluations', { key });
    await page.getByRole('gridcell', { name: 'invoice-2.pdf' }).click();
    await page.locator('[data-page] canvas').first().waitFor();
    const total = page.locator('[data-wrong="/grand_total"]');
    await total.getByText('1000').waitFor();
    await total.click();
    expect(await total.getAttribute('aria-pressed')).to.equal('true');
    await until(() => isWithin(page, '[data-box^="/grand_total"]'), 50);
    await page.locator('[data-box^="/buyer_name"]').click();
    const buyer = page.locator('[data-wrong="/buyer_name"]');
    expect(await buyer.getAttribute('aria-pressed')).to.equal('true');
    await buyer.getByText('Somebody Else').waitFor();
    await looksRight(page);
    await page.reload();
    await total.waitFor();
    await page.getByRole('button', { name: 'Close the document' }).click();
    await total.waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('starts a training with the examples of a run by one click, for what the button says', async () => {
    const page = await world.open('/evaluations', { key });
    const query = { tenant_id: TENANT, optimizer_tier: 'light', total_examples: 3 } as const;
    const { credits } = await quire.api.getTrainingQuote({ query });
    const name = `Train on 3 examples for ${credits.toLocaleString('en')} credits`;
    await page.getByRole('button', { name }).click();
    await page.getByText('The training was started.').waitFor();
    const { items } = await quire.api.listTrainingJobs({ query: { tenant_id: TENANT } });
    expect(items).to.have.length(1);
    await page.getByRole('link', { name: 'Show it' }).click();
    await page.getByRole('heading', { name: items[0]?.job_id.slice(-6) ?? '' }).waitFor();
    expect(faults(page)).to.deep.equal([]);
    await page.context().close();
  });

  it('makes a set of a document that came with its request, and runs it', async () => {
    const direct = await world.tenant('direct', 100_000);
    const schema = { type: 'object', properties: { invoice_number: { type: 'string' } } };
    const file = await fixture('invoice.pdf');
    const review_id = await reviewed(direct.quire, { file, schema, review: { sample: 1 } });
    await direct.quire.api.decideReview({
      path: { review_id },
      body: { result: { invoice_number: 'D-1' } },
    });
    const page = await world.open('/evaluations?tab=sets', {
      key: direct.key,
      theme: 'dark',
      width: 390,
      height: 844,
    });
    await page.getByRole('button', { name: 'New set from reviews' }).first().click();
    await page.getByLabel('Name').fill('Direct');
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Make the set' }).click();
    await page.getByText('The set has 1 document.').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
    await page.waitForURL('**/evaluations?tab=runs&run=evr_*');
    await page.getByText('invoice.pdf').first().waitFor();
    await looksRight(page);
    await page.context().close();
  });

  it('makes a set of what people have decided, saves its examples and removes it', async () => {
    const bytes = new Uint8Array(await readFile('test/fixtures/invoice.pdf'));
    const { file_uri, document_id } = await quire.uploads.send(new File([bytes], 'decided.pdf'));
    const schema = { type: 'object', properties: { invoice_number: { type: 'string' } } };
    const batch = { tenant_id: TENANT, file_uris: [file_uri], schema, review: { sample: 1 } };
    await quire.api.createBatch({ body: batch });
    const query = { tenant_id: TENANT, status: 'open' } as const;
    const review_id = await until(
      async () => (await quire.api.listReviews({ query })).items[0]?.review_id,
      200,
    );
    const body = { result: { invoice_number: 'D-1' } };
    await quire.api.decideReview({ path: { review_id }, body });

    const page = await world.open('/evaluations?tab=sets', { key });
    await page.getByRole('button', { name: 'New set from reviews' }).click();
    await page.getByLabel('Name').fill('Decided');
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Make the set' }).click();
    await page.getByText('The set has 1 document.').waitFor();
    await page.getByRole('gridcell', { name: 'Decided' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the examples' }).click();
    const file = await (await saved).path();
    const example = { document_id, expected: { invoice_number: 'D-1' } };
    expect(JSON.parse(await readFile(file, 'utf8'))).to.deep.equal(example);
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Remove the set' }).click();
    await page.getByText('The set was removed.').waitFor();
    await page.getByRole('gridcell', { name: 'Decided' }).waitFor({ state: 'detached' });
    const sets = async () => (await quire.api.listEvaluationSets({ query: { tenant_id: TENANT } })).items;
    expect(await sets()).to.have.length(1);

    // what was saved makes the same set again
    await page.getByRole('button', { name: 'Make a set of examples' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Make the set' }).click();
    await dialog.getByRole('alert').getByText('Give at least one example').waitFor();
    await dialog.getByLabel('Name').fill('From a file');
    await dialog.getByLabel('From a file').setInputFiles(file);
    await dialog.getByText('1 example.').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Make the set' }).click();
    await page.getByRole('gridcell', { name: 'From a file' }).click();
    const set_id = (await sets())[0]?.set_id ?? '';
    const again = await quire.api.getEvaluationSet({ path: { set_id } });
    expect(again).to.include({ name: 'From a file', documents: 1 });
    await quire.api.removeEvaluationSet({ path: { set_id } });
    await page.setViewportSize({ width: 390, height: 844 });
    await looksRight(page);
    await page.context().close();
  });

  it('holds a config back that reads too little, and says which fields in plain words', async () => {
    const page = await world.open('/configs');
    const tenant = page.getByRole('banner').getByRole('combobox', { name: 'Tenant' });
    await tenant.fill(TENANT);
    await page.keyboard.press('Enter');
    await page.getByRole('gridcell', { name: 'Invoices', exact: true }).click();
    await page.getByRole('button', { name: 'Publish a new version' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Set of examples').click();
    await page.getByRole('option', { name: 'Invoices of January' }).click();
    await dialog.getByLabel('F1 of at least, in %').fill('120');
    await dialog.getByText('A number from 0 to 100.').waitFor();
    await dialog.getByLabel('F1 of at least, in %').fill('99.5');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    const refusal = dialog.getByRole('alert');
    await refusal.getByText('It was not published: the gate was not passed.').waitFor();
    await refusal.getByText(/^Its F1 is \d+\.\d %, and 99\.5 % are needed\.$/).waitFor();
    await refusal.getByText('grand total: 66.7 %, needs 99.5 %').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await dialog.getByLabel('F1 of at least, in %').fill('50');
    await dialog.getByLabel('Not worse than').click();
    await page.getByRole('option', { name: /^Invoices\b/ }).click();
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Version 2 was published.').waitFor();
    expect(faults(page)).to.deep.equal([]);
    await page.context().close();
  });
});
