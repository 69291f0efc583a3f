import { readFile } from 'node:fs/promises';
import { read } from '@e965/xlsx';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { give } from './support/trouble.ts';
import { startWorld, type World } from './support/world.ts';

const SCHEMA = JSON.stringify({
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
});

const text = (content: string): Blob => new Blob([content], { type: 'text/plain' });

describe('documents and runs', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  const saved = async (page: Page, name: string): Promise<string> => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name, exact: true }).click();
    return readFile(await (await download).path(), 'utf8');
  };

  const sheetsOf = async (page: Page, name: string): Promise<readonly string[]> => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name, exact: true }).click();
    return read(await readFile(await (await download).path())).SheetNames;
  };

  it('find the result of a program by a part of its name, and open it with its files', async () => {
    const { key, quire } = await world.tenant('finder');
    for (const at of [1, 2, 3])
      await quire.extract({
        file: new File(
          [text(`Invoice number: R-${String(at)}\nTotal: ${String(at)}00.50 EUR`)],
          `letter-${String(at)}.txt`,
        ),
        schema: SCHEMA,
        mode: at === 3 ? 'fast' : 'standard',
        tags: JSON.stringify({ team: at === 2 ? 'claims' : 'sales' }),
      });
    const page = await world.open('/runs', { key });
    const grid = page.getByRole('grid', { name: 'Runs' });
    await page.getByText('3 rows', { exact: true }).waitFor();
    await page.getByLabel('Tag, such as team:claims').fill('team:claims');
    await page.keyboard.press('Enter');
    await page.getByText('1 row', { exact: true }).waitFor();
    await page.getByLabel('Tag, such as team:claims').fill('');
    await page.keyboard.press('Enter');
    await page.getByLabel('Name, ID, config, key or tag').fill('LETTER-3');
    await page.keyboard.press('Enter');
    await page.getByText('1 row', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await grid.getByRole('link', { name: 'letter-3.txt' }).click();
    await page.getByRole('heading', { level: 1, name: 'letter-3.txt' }).waitFor();
    expect(JSON.parse(await saved(page, 'Data (JSON)'))).to.deep.equal({
      invoice_number: 'R-3',
      total: 300.5,
    });
    expect(await sheetsOf(page, 'Data (XLSX)')).to.deep.equal(['Results']);
    expect(await saved(page, 'Data (CSV)')).to.equal('\uFEFFinvoice_number,total\r\nR-3,300.5');
    expect(JSON.parse(await saved(page, 'Citations (JSON)'))).to.have.length(2);
    await page.getByRole('region', { name: 'curl' }).getByText("-F 'mode=fast'").waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('link', { name: 'Open with its document' }).click();
    await page.locator('button[data-value="/invoice_number"]').getByText('R-3').waitFor();
    await page.getByText('The file of this run is not kept.').waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('are found in the palette by the name of their document, and by the ID of their operation', async () => {
    const tenant_id = 'palette';
    const { key, quire } = await world.tenant(tenant_id);
    await quire.extract({ file: new File([text('Invoice number: P-1')], 'waited-for.txt'), schema: SCHEMA });
    const later = new File([text('Invoice number: P-2')], 'later.txt');
    const { file_uri } = await quire.uploads.send(later);
    const parsed = JSON.parse(SCHEMA) as Record<string, unknown>;
    await quire.api.createBatch({ body: { tenant_id, file_uris: [file_uri], schema: parsed } });
    const page = await world.open('/overview', { key });
    await page.getByRole('heading', { level: 1 }).waitFor();
    const look = async (asked: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('Page, tenant, document').fill(asked);
    };
    await look('waited');
    await page.getByRole('option', { name: /^waited-for\.txt/ }).click();
    await page.getByRole('grid', { name: 'Runs' }).getByRole('link', { name: 'waited-for.txt' }).waitFor();
    await look('op_');
    await page.getByRole('option', { name: /^Extraction, / }).click();
    await page.getByRole('heading', { level: 1, name: 'later.txt' }).waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('erase a document, after which its run has no name and no result', async () => {
    const { key, quire } = await world.tenant('eraser');
    await quire.extract({ file: new File([text('Invoice number: R-9')], 'gone.txt'), schema: SCHEMA });
    const page = await world.open('/runs', { key, width: 390, height: 844 });
    await page.getByRole('link', { name: 'gone.txt' }).click();
    await page.getByRole('button', { name: 'Delete the document' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the document' }).click();
    await page.getByText('The document was erased.').waitFor();
    await page.getByRole('heading', { level: 1, name: /^doc_/ }).waitFor();
    expect(await page.getByRole('button', { name: 'Data (JSON)' }).count()).to.equal(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(390);
    expect(faults(page)).to.deep.equal([]);
  });

  it('keep what one does in the playground: a reload has document, schema, result and corrections', async () => {
    const { key } = await world.tenant('keeper');
    const page = await world.open('/playground', { key });
    await page.getByRole('button', { name: 'Invoice of two pages' }).click();
    await page.locator('[data-cost]').waitFor();
    await page.waitForURL('**/playground?run=ext_*');
    await page.locator('button[data-value="/invoice_number"]').click();
    await page.getByRole('button', { name: 'Correct invoice_number' }).click();
    await page.getByRole('textbox', { name: 'Correct invoice_number' }).fill('TYPED-1');
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByText('TYPED-1').first().waitFor();
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.getByText('TYPED-1').first().waitFor();
    await page.locator('[data-page="2"]').waitFor();
    await page.locator('[data-box="/grand_total"]').waitFor({ state: 'attached' });
    await page.getByRole('link', { name: 'Documents and runs' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).click();
    await page.getByRole('link', { name: 'Documents and runs' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('grid', { name: 'Runs' }).getByText('invoice-2-pages.pdf').first().waitFor();
    await page.goBack();
    await page.getByText('TYPED-1').first().waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('say what a file is before it is billed', async () => {
    const { key } = await world.tenant('careful');
    const page = await world.open('/playground', { key });
    await give(page, 'bad.pdf', Buffer.from('Nothing of note is said here.'));
    await page.getByText('but the file is text/plain', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Replace document' }).click();
    await give(page, 'tool.exe', Buffer.from('TVqQAAMAAAAEAP8=', 'base64'));
    await page.getByText('The service cannot read this file', { exact: false }).waitFor();
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).to.equal(true);
    expect(faults(page)).to.deep.equal([]);
  });

  it('are begun by a mode and some pages, with the price before', async () => {
    const { key } = await world.tenant('chooser');
    const page = await world.open('/playground', { key });
    await page.getByRole('button', { name: 'Invoice of two pages' }).click();
    await page.locator('[data-cost]').waitFor();
    await page.getByLabel('Pages', { exact: true }).fill('2');
    await page.getByRole('combobox', { name: 'Mode' }).click();
    await page.getByRole('option', { name: 'Fast' }).click();
    await page.getByText(/^Costs \d+ credits? for 1 page/).waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText(/^Charged \d+ credits? for 1 page/).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  for (const look of [{}, { theme: 'dark' as const, width: 390, height: 844 }])
    it(`stand beside another run of the document, and what differs is marked ${JSON.stringify(look)}`, async () => {
      const { key, quire } = await world.tenant(`comparer-${String(look.width ?? 'wide')}`);
      const tenant_id = `comparer-${String(look.width ?? 'wide')}`;
      const { document_id, file_uri } = await quire.uploads.send(
        new File([text('Invoice number: C-1\nTotal: 12.50 EUR')], 'compared.txt'),
      );
      const { config_id } = await world.admin.api.publishConfig({
        body: {
          tenant_id,
          name: 'Total as text',
          schema: { type: 'object', properties: { total: { type: 'string' } } },
        },
      });
      const run = async (payload: object): Promise<void> => {
        const envelope = { schema_version: '1.0', operation: 'inference.extract', scope: { tenant_id } };
        const body = { ...envelope, resource: { file_uri }, payload } as never;
        await quire.api.canonical({ body });
      };
      await run({ schema: JSON.parse(SCHEMA) as object, mode: 'fast' });
      const page = await world.open(`/runs?document_id=${document_id}`, { key, ...look });
      await page.getByRole('link', { name: 'compared.txt' }).click();
      await page.getByText('No other run of this document', { exact: false }).waitFor();
      await run({ config_id });
      await page.reload();
      await page.getByRole('combobox', { name: 'The other run' }).click();
      await page.getByRole('option', { name: /Total as text/ }).click();
      const table = page.getByRole('region', { name: 'Two readings side by side' });
      await table.getByText('Config: ', { exact: false }).waitFor();
      const number = table.getByRole('row', { name: /^invoice_number / });
      expect(await number.locator('[data-differs=true]').count()).to.equal(2);
      expect(await axeFindings(page)).to.deep.equal([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(
        look.width ?? 1280,
      );
      await page.getByRole('link', { name: 'Open with its document' }).click();
      await page.getByRole('tab', { name: 'Compare' }).click();
      await page.getByRole('combobox', { name: 'Config of the other reading' }).click();
      await page.getByRole('option', { name: 'Total as text' }).click();
      await page
        .getByRole('combobox', { name: 'Mode of the other reading' })
        .getByText('As the config says')
        .waitFor();
      await page.getByRole('button', { name: 'Run with these settings' }).click();
      await page.getByText(/^\d of \d values differ\.$/).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      expect(faults(page)).to.deep.equal([]);
      await page.context().close();
    });

  it('are begun again for the documents of a batch that failed, in its mode and by its model', async () => {
    const tenant_id = 'again';
    const { key, quire } = await world.tenant(tenant_id, 10_000);
    const send = async (name: string, content: string) =>
      (await quire.uploads.send(new File([text(content)], name))).file_uri;
    const file_uris = [
      await send('good.txt', 'IBAN: DE89370400440532013000'),
      await send('bad-1.txt', 'Nothing of note is said here.'),
      await send('bad-2.txt', 'Nor is anything said here.'),
    ];
    const schema = { type: 'object', properties: { iban: { type: 'string' } }, required: ['iban'] };
    const llm = { provider_model: 'openai/some-model' };
    const how = { tenant_id, schema, mode: 'fast', llm } as const;
    const { batch_id } = await quire.api.createBatch({ body: { ...how, file_uris } });
    const page = await world.open(`/runs?tab=files&batch=${batch_id}`, { key });
    await page.getByText('3 of 3 done').waitFor();
    await page.getByText('2 failed').waitFor();
    await page.getByRole('grid').getByText('bad-1.txt').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    // The list of runs may follow later than the batch: names are asked for until all are there.
    const late = { items: [], total: 0, next_cursor: null };
    await page.route(/\/v1\/runs\?.*status=failed/, (route) => route.fulfill({ json: late }), { times: 1 });
    await page.reload();
    await page.getByText('2 failed').waitFor();
    await page.getByRole('grid').getByText('bad-1.txt').waitFor();
    await page.getByRole('button', { name: 'Run the failed ones again' }).click();
    await page.getByText('2 failed documents').waitFor();
    await page.getByText(/^Costs \d+ credits? for 2 pages at most/).waitFor();
    await page.getByRole('combobox', { name: 'Read by' }).getByText('As the batch was read').waitFor();
    await page.getByRole('combobox', { name: 'Mode' }).getByText('Fast').waitFor();
    expect(await page.getByLabel('Model').inputValue()).to.equal('openai/some-model');
    await page.getByText('"iban"').first().waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Run all' }).click();
    await page.getByText('2 of 2 done').waitFor();
    await page.getByRole('grid').getByText('bad-2.txt').waitFor();
    const { items } = await quire.api.listBatches({ query: { tenant_id } });
    expect(items.map(({ documents }) => documents)).to.deep.equal([2, 3]);
    const { items: runs } = await quire.api.listRuns({ query: { tenant_id } });
    expect(runs.map(({ mode }) => mode)).to.deep.equal(Array(5).fill('fast'));
    expect(faults(page)).to.deep.equal([]);
  });

  it('are begun again by the config and in the mode of a batch without any result', async () => {
    const tenant_id = 'nothing';
    const { key, quire } = await world.tenant(tenant_id, 10_000);
    const schema = { type: 'object', properties: { iban: { type: 'string' } }, required: ['iban'] };
    const draft = { tenant_id, name: 'Accounts', schema, mode: 'robust' } as const;
    const { config_id } = await world.admin.api.publishConfig({ body: draft });
    const { file_uri } = await quire.uploads.send(new File([text('Nothing is said.')], 'bad.txt'));
    const { batch_id } = await quire.api.createBatch({
      body: { tenant_id, file_uris: [file_uri], config_id },
    });
    const page = await world.open(`/runs?tab=files&batch=${batch_id}`, { key });
    await page.getByText('1 failed').waitFor();
    await page.getByRole('button', { name: 'Run the failed ones again' }).click();
    await page.getByRole('combobox', { name: 'Read by' }).getByText('Accounts').waitFor();
    await page.getByRole('combobox', { name: 'Mode' }).getByText('Robust').waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('read many files as one batch, say which cannot be read, and save one table of all', async () => {
    const { key } = await world.tenant('folder');
    const page = await world.open('/runs?tab=files', { key, theme: 'dark' });
    const files = Array.from({ length: 7 }, (_, at) => ({
      name: `invoice-${String(at)}.txt`,
      mimeType: 'text/plain',
      buffer: Buffer.from(`Invoice number: F-${String(at)}\nTotal: 1${String(at)}.00 EUR`),
    }));
    const broken = {
      name: 'tool.exe',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from('MZ\u0000\u0001'),
    };
    await page
      .getByLabel('Choose files')
      .first()
      .setInputFiles([...files, broken]);
    await page.getByText('1 cannot be read', { exact: false }).waitFor();
    await page.getByText(/^Costs \d+ credits for 7 pages at most/).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Run all' }).click();
    await page.getByText('7 of 7 done').waitFor();
    await page.reload();
    await page.getByText('7 of 7 done').waitFor();
    await page.getByText('F-6').waitFor();
    const lines = (await saved(page, 'All results (CSV)')).split('\r\n');
    expect(lines).to.have.length(8);
    expect(lines[1]).to.match(/^invoice-0\.txt,Succeeded,,.*F-0/);
    expect(await sheetsOf(page, 'All results (XLSX)')).to.include('Results');
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });
});
