import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { Quire } from '../../../sdk/src/index.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const STREAM = 'account-audited';

/** What an intruder writes with any tool: one byte of the fourth event, past every rule of the service. */
const changeOneByte = (file: string): void => {
  const log = new Database(file);
  const { changes } = log
    .prepare(
      `update events set data = replace(data, '"adjustment_id":"adj_', '"adjustment_id":"adk_')
       where stream = ? and revision = 3`,
    )
    .run(STREAM);
  log.close();
  expect(changes).to.equal(1);
};

const tradeIn = async ({ admin, tenant }: World): Promise<void> => {
  await tenant('audited');
  for (const credits of [5, 6, 7])
    await admin.api.adjustCredits({
      path: { tenant_id: 'audited' },
      body: { credits, reason: 'goodwill <script>alert(1)</script>' },
    });
};

describe('the audit page', () => {
  let world: World;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quire-web-log-'));
    world = await startWorld({ DATA_DIR: join(folder, 'own') });
    await tradeIn(world);
  });
  after(async () => {
    await world.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('recomputes every hash of a stream in the browser, and shows what people wrote', async () => {
    const page = await world.open(`/audit?stream=${STREAM}`);
    await page.getByText('goodwill <script>alert(1)</script>').first().waitFor();
    expect(await page.getByText('quire:text:').count()).to.equal(0);
    await page.getByText(/^(\d+) of \1 events verified$/).waitFor();
    expect(await page.locator('[data-verdict=verified]').count()).to.be.greaterThan(3);
    expect(await page.locator('[data-verdict=broken], [data-verdict=behind]').count()).to.equal(0);
    expect(faults(page)).to.deep.equal([]);
  });

  it('shows one changed byte in red at its event, and all behind it as not proven', async () => {
    const copy = join(folder, 'changed');
    await cp(join(folder, 'own'), copy, {
      recursive: true,
      filter: (path) => !/\.(?:sock|lock|pid)$/.test(path),
    });
    changeOneByte(join(copy, 'events.db'));
    const changed = await startWorld({ DATA_DIR: copy });
    try {
      const page = await changed.open(`/audit?stream=${STREAM}&order=oldest`);
      await page.getByText(`First event that does not fit: ${STREAM}, revision 3.`).waitFor();
      const verdicts = page.locator('[data-verdict]');
      await page.locator('[data-verdict=broken]').waitFor();
      const seen = await verdicts.evaluateAll((all) => all.map((one) => one.getAttribute('data-verdict')));
      expect(seen.slice(0, 5)).to.deep.equal(['verified', 'verified', 'verified', 'broken', 'behind']);
      await page.locator('[data-verdict=broken]').click();
      await page.getByText('Its content does not have the hash that it carries.').last().waitFor();
    } finally {
      await changed.close();
    }
  });

  it('goes from event to event by the arrow keys of the slider, and to a time that is typed', async () => {
    const page = await world.open('/audit?tab=balance');
    const tenant = page.getByRole('combobox', { name: 'Tenant' }).first();
    await tenant.fill('audited');
    await tenant.press('Enter');
    const slider = page.getByRole('slider', { name: 'Moment' });
    const at = (revision: number) => page.getByText(`revision ${String(revision)},`).waitFor();
    await at(5);
    for (const revision of [4, 3]) {
      await slider.press('ArrowLeft');
      await at(revision);
    }
    const { text } = await page.request
      .get(`${world.url}/v1/admin/events?stream=${STREAM}`)
      .then(async (answer) => ({ text: await answer.text() }));
    const times = text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { recorded_at: string }).recorded_at);
    await page.getByRole('button', { name: 'Event after' }).press('Enter');
    await at(4);
    await page.getByText('goodwill <script>alert(1)</script>').first().waitFor();
    const local = await page.evaluate((at) => {
      const time = Date.parse(at);
      return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
    }, times[2]!);
    await page.getByLabel('Exact time (UTC)').fill(local);
    await at(2);
    await page.getByRole('button', { name: 'Now' }).click();
    await at(5);
    await slider.press('ArrowRight');
    await page.getByText('There is no event after this one.').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('runs an audit and shows that nothing is wrong', async () => {
    const page = await world.open('/audit?tab=audits');
    await page.getByRole('button', { name: 'Run an audit' }).click();
    await page.getByText('Nothing is wrong').waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('shows what one person did, who is chosen by the name of their key', async () => {
    const own = { tenant_id: 'audited', name: 'Clerk', role: 'admin' } as const;
    const { key, key_id } = await world.admin.api.createApiKey({ body: own });
    const clerk = new Quire({ url: world.url, key, tenant: 'audited' });
    await clerk.api.adjustCredits({
      path: { tenant_id: 'audited' },
      body: { credits: 8, reason: 'by the clerk' },
    });
    const page = await world.open(`/audit?stream=${STREAM}`);
    const who = page.getByRole('combobox', { name: 'Who' });
    await who.fill(`Clerk · ${key_id.slice(-6)}`);
    await who.press('Enter');
    await page.getByText('by the clerk').waitFor();
    await page.getByText('goodwill').first().waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('actor')).to.equal(key_id);
    await page.reload();
    await page.getByText('by the clerk').waitFor();
    expect(await who.inputValue()).to.equal(`Clerk · ${key_id.slice(-6)}`);
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  for (const theme of ['light', 'dark'] as const)
    it(`has no serious finding in the ${theme} theme, nor has the page of the operation`, async () => {
      const page = await world.open('/audit', { theme });
      await page.getByText(/events verified$/).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.goto(`${world.url}/app/operation`);
      await page.getByText('All is well').waitFor();
      const rows = page.getByRole('grid', { name: 'Processes' }).getByRole('row');
      await rows.nth(1).waitFor();
      expect(await rows.count()).to.equal(2);
      expect(await axeFindings(page)).to.deep.equal([]);
    });
});
