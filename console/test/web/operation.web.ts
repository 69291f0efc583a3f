import { expect } from 'chai';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

describe('the page of operation', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  it('says whose rate limits are in use, and how much of them is left', async () => {
    const { key, quire } = await world.tenant('busy');
    // filled so slowly that it is not full again while the page is looked at
    const body = { general: { rate_per_second: 1, burst: 1_200 } };
    await world.admin.api.setRateLimits({ path: { tenant_id: 'busy' }, body });
    await Promise.all(Array.from({ length: 60 }, () => quire.api.getBillingRates()));
    const page = await world.open('/operation');
    await page.getByText(/^1,1\d\d of 1,200 left$/).waitFor();
    const used = page.getByRole('progressbar', { name: 'Used by busy, other requests' });
    expect(await used.evaluate((bar: HTMLProgressElement) => bar.value)).to.be.within(1, 60);
    expect(await page.getByText('refills 1 a second').count()).to.equal(1);
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
    await page.context().close();
    // the tenant itself is told nothing of it
    const other = await world.open('/operation', { key });
    await other.getByText('There is no such page').waitFor();
  });
});
