import { expect } from 'chai';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { AWAY, give, largePdf, LONG_PAGES, longPdf } from './support/trouble.ts';
import { startWorld, type World } from './support/world.ts';

describe('a conversion in the playground', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  it('converts a large file, which can be stopped while it is sent, and sends it once for all', async () => {
    const { key, quire } = await world.tenant('converted');
    const page = await world.open('/playground', { key, host: 'localhost' });
    const puts: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PUT') puts.push(request.url());
    });
    await give(page, 'large.pdf', largePdf());
    await page.locator('[data-page="1"] canvas').waitFor();
    const line = await page.context().newCDPSession(page);
    const conditions = { offline: false, latency: 0, downloadThroughput: -1 };
    await line.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput: 500_000 });
    await page.getByRole('tab', { name: 'Markdown' }).click();
    const convert = page.getByRole('button', { name: 'Convert to markdown' });
    await convert.click();
    await page.getByText(/^[1-8]\.\d of 9\.0 MB sent$/).waitFor();
    await page.getByRole('progressbar', { name: 'Sending the file' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).to.equal(0);
    await line.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput: -1 });
    await convert.click();
    await page.getByRole('tabpanel').getByText('LG-1').waitFor();
    expect(puts).to.have.length(2);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('[data-cost]').waitFor();
    expect(puts).to.have.length(2);
    const { items } = await quire.api.listOperations({ query: { tenant_id: 'converted' } });
    expect(items.map(({ status }) => status)).to.deep.equal(['succeeded', 'succeeded']);
    expect(faults(page)).to.deep.equal([]);
  });

  it('says beside the button why no schema was proposed, and tries again', async () => {
    const { key, quire } = await world.tenant('proposed');
    const page = await world.open('/playground', { key });
    await give(page, 'long.pdf', longPdf());
    await page
      .getByText(`for ${String(LONG_PAGES)} pages`)
      .first()
      .waitFor();
    await page.route('**/v1/to-markdown', (route) => route.fulfill(AWAY));
    const propose = page.getByRole('button', { name: 'Propose from the document' });
    await propose.click();
    await page.getByRole('alert').getByText('The service is starting.').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.unroute('**/v1/to-markdown');
    await page.getByRole('button', { name: /^Try again/ }).click();
    // the template's fields are replaced by the document's own
    await page.getByLabel('Name: iban').waitFor({ state: 'detached' });
    await page.getByLabel('Name: invoice_number').waitFor();
    const { items } = await quire.api.listOperations({ query: { tenant_id: 'proposed' } });
    expect(items.map(({ status }) => status)).to.deep.equal(['succeeded']);
    expect(faults(page)).to.deep.equal([]);
  });
});
