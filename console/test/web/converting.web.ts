import { expect } from 'chai';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { AWAY, give, LONG_PAGES, longPdf, READING } from './support/trouble.ts';
import { startWorld, type World } from './support/world.ts';

describe('a conversion in the playground', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  it('says beside the button why no schema was proposed, and tries again', async () => {
    const { key, quire } = await world.tenant('proposed');
    const page = await world.open('/playground', { key });
    await give(page, 'long.pdf', longPdf());
    await page
      .getByText(`for ${String(LONG_PAGES)} pages`)
      .first()
      .waitFor();
    await page.route(READING, (route) => route.fulfill(AWAY));
    const propose = page.getByRole('button', { name: 'Propose from the document' });
    await propose.click();
    await page.getByRole('alert').getByText('The service is starting.').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.unroute(READING);
    await page.getByRole('button', { name: /^Try again/ }).click();
    // the label that the document has stands in the template already
    const suggested = page.getByRole('region', { name: 'Suggested from the document' });
    await suggested.getByText('The document has no labels that your schema lacks.').waitFor();
    await page.getByLabel('Name: invoice_number').waitFor();
    const { items } = await quire.api.listOperations({ query: { tenant_id: 'proposed' } });
    expect(items.map(({ status }) => status)).to.deep.equal(['succeeded']);
    expect(faults(page)).to.deep.equal([]);
  });
});
