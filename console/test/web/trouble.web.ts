import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from '../../../engine/test/support/until.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { AWAY, give, LONG_PAGES as PAGES, longPdf, READING } from './support/trouble.ts';
import { startWorld, type World } from './support/world.ts';

describe('the playground in trouble', () => {
  let world: World;
  before(async () => {
    // nothing that is left for later is begun until it is started again
    world = await startWorld({ ROLES: 'api,projector' });
  });
  after(() => world.close());

  const run = (page: Page): Promise<void> => page.getByRole('button', { name: 'Run', exact: true }).click();
  const addField = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Add field' }).click();
    await page.getByLabel('Name: field_12').fill('typed_by_hand');
  };
  const isKept = (page: Page): Promise<string> => page.getByLabel('Name: typed_by_hand').inputValue();

  it('cancels what is stopped, and goes on with the same work after the service was away', async () => {
    const { key, quire } = await world.tenant('long');
    const page = await world.open('/playground', { key });
    const operations = async () => (await quire.api.listOperations({ query: { tenant_id: 'long' } })).items;
    await give(page, 'long.pdf', longPdf());
    await page.getByText(`for ${String(PAGES)} pages`).waitFor();
    await addField(page);
    await run(page);
    await page.getByText(`Page 1 of ${String(PAGES)}`).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await until(async () => (await operations())[0]?.status === 'cancelled', 50);
    await run(page);
    await page.getByText(`Page 1 of ${String(PAGES)}`).waitFor();
    await world.stop();
    await page.getByRole('alert').getByText('The service was not reached').waitFor();
    await world.startAgain({ ROLES: '' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('[data-cost]').waitFor();
    expect((await operations()).map(({ status }) => status)).to.deep.equal(['succeeded', 'cancelled']);
    expect(await isKept(page)).to.equal('typed_by_hand');
    expect(faults(page)).to.deep.equal([]);
  });

  it('waits for what the service asks, and tries again with what was typed', async () => {
    const { key } = await world.tenant('hurried');
    const heavy = { rate_per_second: 1, burst: 1 };
    await world.admin.api.setRateLimits({ path: { tenant_id: 'hurried' }, body: { heavy } });
    const page = await world.open('/playground', { key });
    await page.getByRole('button', { name: 'Invoice', exact: true }).click();
    await addField(page);
    // what may be sent in this second is used up by the same request without its body
    await page.route(READING, async (route) => {
      let response = await route.fetch({ postData: '' });
      while (response.status() !== 429) response = await route.fetch({ postData: '' });
      await route.fulfill({ response });
    });
    await run(page);
    const again = page.getByRole('button', { name: /^Try again/ });
    await page.getByRole('button', { name: 'Try again in 1 s', disabled: true }).waitFor();
    await page.unroute(READING);
    await page.route(READING, (route) => route.fulfill(AWAY));
    await again.click();
    await page.getByText('The service is starting.').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.unroute(READING);
    await again.click();
    await page.locator('[data-cost]').waitFor();
    expect(await isKept(page)).to.equal('typed_by_hand');
    expect(faults(page)).to.deep.equal([]);
  });
});
