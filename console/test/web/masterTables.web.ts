import { utils, write } from '@e965/xlsx';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const VENDORS = 'number,name,city\n1,Larkspur Ltd,Exampletown\n2,"Brindlemere, Sons",Nowhere\n';
const MORE = `${VENDORS}3,Quillfeather GmbH,Musterstadt\n`;

/** The same rows as a workbook. */
const workbook = (text: string): Buffer => {
  const rows = text.split('\n').map((row) => row.replaceAll('"', '').split(','));
  const book = utils.book_new(utils.aoa_to_sheet(rows), 'Vendors');
  return write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
};

const choose = (page: Page, file: string | Buffer, name = 'vendors.csv'): Promise<void> =>
  page
    .getByRole('dialog')
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(file) });

describe('the page of tables', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  /** A tenant that has a table. */
  const kept = async (tenant_id: string, ...texts: readonly string[]) => {
    const { key, quire } = await world.tenant(tenant_id);
    let table_id: string | undefined;
    for (const text of texts) {
      const file = new File([text], 'vendors.csv');
      const named = table_id === undefined ? {} : { table_id };
      ({ table_id } = await world.admin.api.publishTable({ body: { tenant_id, file, ...named } }));
    }
    return { key, quire, table_id: table_id ?? '' };
  };

  it('takes a list of vendors, shows its rows, and takes the next version of it', async () => {
    const { key, quire } = await world.tenant('lists');
    const page = await world.open('/tables', { key });
    await page.getByText('No tables yet').waitFor();
    await page.getByRole('button', { name: 'Upload a table' }).last().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    await dialog.getByText('Choose a file first.').waitFor();
    await choose(page, VENDORS);
    await dialog.getByText('vendors.csv').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await dialog.getByLabel('Name').fill('Vendors');
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    const rows = page.getByRole('grid', { name: 'Rows' });
    await rows.getByRole('gridcell', { name: 'Brindlemere, Sons' }).waitFor();
    await page.getByRole('button', { name: 'Upload a new version' }).click();
    await choose(page, workbook(MORE.replace(', Sons', '')), 'vendors.xlsx');
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    await rows.getByRole('gridcell', { name: 'Quillfeather GmbH' }).waitFor();
    await page.getByRole('combobox', { name: 'Version' }).click();
    await page.getByRole('option', { name: 'Version 1', exact: true }).click();
    await rows.getByRole('gridcell', { name: 'Quillfeather GmbH' }).waitFor({ state: 'detached' });
    await rows.getByRole('gridcell', { name: 'Larkspur Ltd' }).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    const { items } = await quire.api.listTables({ query: { tenant_id: 'lists' } });
    expect(items.map(({ name, version, rows: count }) => [name, version, count])).to.deep.equal([
      ['Vendors', 2, 3],
    ]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('says why a file is none, takes another in its place, and says that nothing has changed', async () => {
    const { key, table_id } = await kept('wrong', VENDORS);
    const page = await world.open(`/tables/${table_id}`, { key, theme: 'dark' });
    await page.getByRole('button', { name: 'Upload a new version' }).click();
    const dialog = page.getByRole('dialog');
    await choose(page, '%PDF-1.7\n', 'vendors.pdf');
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    await dialog.getByRole('alert').getByText(/CSV/).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await choose(page, VENDORS);
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    await page
      .getByRole('region', { name: /Notifications/ })
      .getByText('no version was made')
      .waitFor();
  });

  it('deletes a table with all its versions', async () => {
    const { key, quire, table_id } = await kept('gone', VENDORS, MORE);
    const page = await world.open('/tables', { key, width: 390, height: 844 });
    await page.getByRole('gridcell', { name: 'vendors', exact: true }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete the table' }).click();
    await page.getByText('No tables yet').waitFor();
    const answer = await quire.api.getTable({ path: { table_id } }).then(
      () => 'found',
      () => 'gone',
    );
    expect(answer).to.equal('gone');
    expect(faults(page)).to.deep.equal([]);
  });
});
