import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { faults } from './support/browser.ts';
import { give, largePdf } from './support/trouble.ts';
import { startWorld, type World } from './support/world.ts';

describe('a large file in the playground', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  interface Large {
    readonly page: Page;
    /** Where files were sent to so far. */
    readonly puts: readonly string[];
    /** Lets so many bytes a second out of the page; -1: as many as there are. */
    readonly sendAt: (bytes: number) => Promise<void>;
  }

  /** The file in the playground, at another name than the service gives itself. */
  const large = async (key: string): Promise<Large> => {
    const page = await world.open('/playground', { key, host: 'localhost' });
    const puts: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PUT') puts.push(request.url());
    });
    await give(page, 'large.pdf', largePdf());
    await page.locator('[data-page="1"] canvas').waitFor();
    const line = await page.context().newCDPSession(page);
    const conditions = { offline: false, latency: 0, downloadThroughput: -1 };
    const sendAt = async (uploadThroughput: number): Promise<void> => {
      await line.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput });
    };
    return { page, puts, sendAt };
  };

  const stopSending = async (page: Page): Promise<void> => {
    await page.getByText(/^[1-8]\.\d of 9\.0 MB sent$/).waitFor();
    await page.getByRole('progressbar', { name: 'Sending the file' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).to.equal(0);
  };

  const run = (page: Page): Promise<void> => page.getByRole('button', { name: 'Run', exact: true }).click();

  it('shows how far it is sent, is stopped, sent again, and then never again', async () => {
    const { key } = await world.tenant('large');
    const { page, puts, sendAt } = await large(key);
    await sendAt(500_000);
    await run(page);
    await stopSending(page);
    await sendAt(-1);
    await run(page);
    await page.locator('[data-cost]').waitFor();
    await page.getByText('LG-1').first().waitFor();
    expect(puts).to.have.length(2);
    await page.getByRole('button', { name: 'Add field' }).click();
    await page.getByLabel('Name: field_12').fill('typed_by_hand');
    await run(page);
    await page.locator('button[data-value="/typed_by_hand"]').waitFor();
    expect(puts).to.have.length(2);
    expect(faults(page)).to.deep.equal([]);
  });

  it('is converted, can be stopped while it is sent, and is sent once for all', async () => {
    const { key, quire } = await world.tenant('converted');
    const { page, puts, sendAt } = await large(key);
    await sendAt(500_000);
    await page.getByRole('tab', { name: 'Markdown' }).click();
    const convert = page.getByRole('button', { name: 'Convert to markdown' });
    await convert.click();
    await stopSending(page);
    await sendAt(-1);
    await convert.click();
    await page.getByRole('tabpanel').getByText('LG-1').waitFor();
    expect(puts).to.have.length(2);
    await run(page);
    await page.locator('[data-cost]').waitFor();
    expect(puts).to.have.length(2);
    const { items } = await quire.api.listOperations({ query: { tenant_id: 'converted' } });
    expect(items.map(({ status }) => status)).to.deep.equal(['succeeded', 'succeeded']);
    expect(faults(page)).to.deep.equal([]);
  });
});
