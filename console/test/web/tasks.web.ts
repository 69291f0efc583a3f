import { readFile } from 'node:fs/promises';
import { read, utils } from '@e965/xlsx';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startReceiver, status, type Receiver } from '../../../test/http/webhooks/receiver.ts';
import { faults } from './support/browser.ts';
import { person } from './support/person.ts';
import { DOUBTFUL, fixture, reviewed } from './support/seeded.ts';
import { startWorld, type OpenOptions, type World } from './support/world.ts';

const ENV = {
  FIELD_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  WEBHOOKS_ALLOW_PRIVATE_NETWORK: 'true',
};
const FILES = 20;
const SCHEMA = { type: 'object', properties: { invoice_number: { type: 'string' } } };

type Person = ReturnType<typeof person>;

/** What people come back for, each from the first page of the console. `closing.web.ts` closes a month. */
describe('the tasks of a day', () => {
  let world: World;
  let receiver: Receiver;
  const done: Record<string, object> = {};
  before(async () => {
    receiver = await startReceiver();
    world = await startWorld(ENV);
  });
  after(async () => {
    console.table(done);
    await world.close();
    await receiver.stop();
  });

  /** Does a task from the first page on, and notes what it took: machine time, for no person thinks here. */
  const timed = async (
    name: string,
    options: OpenOptions,
    work: (page: Page, who: Person) => Promise<void>,
  ): Promise<Page> => {
    const page = await world.open('/overview', options);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const who = person(page);
    const began = performance.now();
    await work(page, who);
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    done[name] = { seconds, clicks: who.did.clicks, fields: who.did.typed, keys: who.keys() };
    expect(faults(page)).to.deep.equal([]);
    return page;
  };
  const to = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

  it('is an earlier result, found by a part of its name', async () => {
    const { key, quire } = await world.tenant('finding', 10_000);
    for (let at = 0; at < 3; at += 1)
      await quire.extract({
        file: new File([`Invoice number: Y-${String(at)}`], `scan-${String(at)}.txt`),
        schema: SCHEMA,
      });
    await timed('find an earlier result', { key }, async (page, { click, type, press }) => {
      await click(to(page, 'Documents and runs'));
      await type(page.getByLabel('Name, ID, config, key or tag'), 'scan-1');
      await press('Enter');
      await page.getByText('1 row', { exact: true }).waitFor();
      await click(to(page, 'scan-1.txt'));
      await page.getByRole('button', { name: 'Data (JSON)' }).waitFor();
    });
  });

  it('are twenty files as one spreadsheet', async () => {
    const { key } = await world.tenant('twenty', 10_000);
    const files = Array.from({ length: FILES }, (_, at) => ({
      name: `invoice-${String(at)}.txt`,
      mimeType: 'text/plain',
      buffer: Buffer.from(`Invoice number: T-${String(at)}\nTotal: 1${String(at)}.00 EUR`),
    }));
    await timed('20 files to one spreadsheet', { key }, async (page, { click }) => {
      await click(to(page, 'Documents and runs'));
      await click(page.getByRole('tab', { name: 'Many files' }));
      const chooser = page.waitForEvent('filechooser');
      await click(page.locator('button').filter({ hasText: 'Choose files' }));
      await (await chooser).setFiles(files);
      await page.getByText(/^Costs \d+ credits for 20 pages at most/).waitFor();
      await click(page.getByRole('button', { name: 'Run all' }));
      await page.getByText('20 of 20 done').waitFor();
      await page.getByText('T-19').waitFor();
      const saved = page.waitForEvent('download');
      await click(page.getByRole('button', { name: 'All results (XLSX)' }));
      const { Sheets } = read(await readFile(await (await saved).path()));
      const rows = utils.sheet_to_json<{ invoice_number: string }>(Sheets['Results'] ?? {});
      expect(rows.map(({ invoice_number }) => invoice_number)).to.include('T-19');
      expect(rows).to.have.length(FILES);
    });
  });

  it('are five reviews without a mouse', async () => {
    const { key, quire } = await world.tenant('deciding', 10_000);
    const asked = {
      file: await fixture('invoice.pdf'),
      schema: DOUBTFUL,
      review: { missing_required: true },
    };
    for (let count = 0; count < 5; count += 1) await reviewed(quire, asked);
    await timed('five reviews by keyboard', { key }, async (page, { press }) => {
      await press('Control+k');
      await page.getByPlaceholder('Page, tenant, document').waitFor();
      await page.keyboard.type('Reviews');
      await page.getByRole('option', { name: 'Reviews', exact: true, selected: true }).waitFor();
      await press('Enter');
      await page.waitForURL('**/reviews');
      await page.getByRole('gridcell', { name: 'Open' }).nth(4).waitFor();
      const grid = page.getByRole('grid', { name: 'Reviews' });
      while (!(await grid.evaluate((one) => one === document.activeElement))) await press('Tab');
      await press('Enter');
      for (let left = 5; left > 0; left -= 1) {
        await page.getByText(`${String(left)} to decide`).waitFor();
        await page.locator('[data-page] canvas').first().waitFor();
        for (const text of ['M. Finch', '4711', 'P-12']) {
          await page.keyboard.type(text);
          await press('Enter');
        }
        await page.getByText('Nothing left in doubt').waitFor();
        await press('Control+Enter');
      }
      await page.getByText('Nothing waits for you').waitFor();
    });
    const { items } = await quire.api.listReviews({ query: { tenant_id: 'deciding', status: 'decided' } });
    expect(items).to.have.length(5);
  });

  it('is a set of what was reviewed, and its run', async () => {
    const { key, quire } = await world.tenant('measuring', 10_000);
    const file = await fixture('invoice.pdf');
    const review_id = await reviewed(quire, { file, schema: SCHEMA, review: { sample: 1 } });
    await quire.api.decideReview({ path: { review_id }, body: { result: { invoice_number: 'M-1' } } });
    await timed('a set from reviews, and its run', { key }, async (page, { click, type }) => {
      await click(to(page, 'Evaluations'));
      await click(page.getByRole('tab', { name: 'Sets' }));
      await click(page.getByRole('button', { name: 'New set from reviews' }).first());
      await type(page.getByLabel('Name'), 'Reviewed');
      await click(page.getByRole('dialog').getByRole('button', { name: 'Make the set' }));
      await page.getByText('The set has 1 document.').waitFor();
      await click(page.getByRole('button', { name: 'Run', exact: true }));
      await click(page.getByRole('dialog').getByRole('button', { name: 'Start' }));
      await page.waitForURL('**/evaluations?tab=runs&run=evr_*');
      await page.getByRole('gridcell', { name: 'Succeeded' }).first().waitFor();
    });
  });

  it('is a config that a customer saves', async () => {
    const { key, quire } = await world.tenant('saving', 10_000);
    await timed('save a config as a customer', { key }, async (page, { click, type }) => {
      await click(to(page, 'Configs'));
      await click(page.getByRole('button', { name: 'Publish a config' }).first());
      const dialog = page.getByRole('dialog');
      await type(dialog.getByLabel('Name'), 'Receipts');
      await dialog.locator('.cm-content').waitFor();
      await click(dialog.getByRole('button', { name: 'Publish', exact: true }));
      await page.getByText('Version 1 was published.').waitFor();
    });
    const { items } = await quire.api.listConfigs({ query: { tenant_id: 'saving' } });
    expect(items.map(({ name }) => name)).to.deep.equal(['Receipts']);
  });

  it('is a message that a server refused, sent again', async () => {
    receiver.answerWith(status(500));
    const { key, quire } = await world.tenant('telling');
    const body = { tenant_id: 'telling', url: receiver.url, events: ['*' as const] };
    const { webhook_id } = await quire.api.createWebhook({ body });
    await quire.api.testWebhook({ path: { webhook_id } });
    await timed('resend a message of a webhook', { key }, async (page, { click }) => {
      await click(to(page, 'Webhooks'));
      await click(page.getByRole('gridcell', { name: receiver.url }));
      const refused = page.getByRole('gridcell', { name: '500: The receiver refused it' });
      await refused.waitFor();
      receiver.answerWith(status(204));
      await click(refused);
      await click(page.getByRole('dialog').getByRole('button', { name: 'Send again' }));
      await page.getByRole('gridcell', { name: 'Delivered' }).waitFor();
    });
  });

  it('is a tenant whose data is erased', async () => {
    await world.tenant('leaving');
    await timed('erase a tenant', {}, async (page, { click, type }) => {
      await click(to(page, 'Tenants'));
      await click(to(page, 'leaving'));
      await click(page.getByRole('tab', { name: 'Data' }));
      await click(page.getByRole('button', { name: 'Erase the data' }));
      const dialog = page.getByRole('dialog');
      await type(dialog.getByRole('textbox'), 'leaving');
      await click(dialog.getByRole('button', { name: 'Erase for good' }));
      await page.getByText(/^(Everything is erased|Erasing:)/).waitFor();
    });
  });
});
