import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

describe('the page of reviews', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  it('lets a person decide an invoice with doubtful fields by keys alone, in so many seconds', async () => {
    const { key, quire } = await world.tenant('reviewer');
    const schema = {
      type: 'object',
      properties: {
        invoice_number: { type: 'string' },
        bank_code: { type: ['string', 'null'] },
        order_reference: { type: 'string' },
        project_code: { type: 'string' },
      },
      required: ['bank_code', 'order_reference', 'project_code'],
    };
    const pdf = new File([new Uint8Array(await readFile('test/fixtures/invoice.pdf'))], 'invoice.pdf');
    await quire.extract({ file: pdf, schema, review: '{"below": 1, "missing_required": true}' });
    const page = await world.open('/reviews', { key });
    await page.getByRole('link', { name: 'invoice.pdf' }).click();
    await page.locator('[data-field][aria-pressed=true]').waitFor();
    await page.locator('[data-page] canvas').first().waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    const began = performance.now();
    while ((await page.locator('[data-doubtful]').count()) > 0) {
      const path = await page.locator('[data-field][aria-pressed=true]').getAttribute('data-field');
      if (path === '/order_reference' || path === '/project_code') {
        await page.keyboard.type('PO-77', { delay: 80 });
        await page.keyboard.press('Enter');
      } else await page.keyboard.press('Enter');
    }
    await page.keyboard.press('Control+Enter');
    await page.getByText('Decided').first().waitFor();
    console.log(`      decided in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
    const { items } = await quire.api.listReviews({ query: { tenant_id: 'reviewer' } });
    expect(items[0]).to.include({ status: 'decided' });
    expect(faults(page)).to.deep.equal([]);
    await page.context().close();
  });
});
