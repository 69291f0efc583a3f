import { expect } from 'chai';
import { utils, write } from '@e965/xlsx';
import type { Page } from 'playwright-core';
import { zipOf } from '../../../engine/test/support/officeFiles.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const FILLING = Array.from({ length: 60 }, (_, at) => `Paragraph ${String(at)} of the terms.`);

const wordFile = {
  name: 'invoice.docx',
  mimeType: '',
  buffer: zipOf({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
      '<Override PartName="/word/document.xml" ' +
      'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    'word/document.xml':
      '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>' +
      ['<b>Invoice</b>', ...FILLING, 'Invoice number: LF-77']
        .map((text) => text.replaceAll('<', '&lt;'))
        .map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`)
        .join('') +
      '</w:body></w:document>',
  }),
};

const bookFile = () => {
  const book = utils.book_new();
  utils.book_append_sheet(
    book,
    utils.aoa_to_sheet([
      ['Item', 'Price'],
      ['Bolt', 1.5],
    ]),
    'Parts',
  );
  return {
    name: 'parts.xlsx',
    mimeType: '',
    buffer: write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer,
  };
};

/** What the browser marks as cited, and whether one sees it. */
const marked = (page: Page) =>
  page.evaluate(() => {
    const range = [...(CSS.highlights.get('cited') ?? [])][0];
    const region = document.querySelector('[data-scrolls][role=region]')?.getBoundingClientRect();
    if (!(range instanceof Range) || region === undefined) return undefined;
    const { top, bottom } = range.getBoundingClientRect();
    return { text: range.toString(), isSeen: top >= region.top && bottom <= region.bottom };
  });

describe('a document without pages', () => {
  let world: World;
  let key: string;
  before(async () => {
    world = await startWorld();
    ({ key } = await world.tenant('reader'));
  });
  after(() => world.close());

  it('is shown at once at no cost, and a value chosen is marked where it stands', async () => {
    const page = await world.open('/playground', { key });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.locator('input[type=file]').setInputFiles(wordFile);
    const pages = page.getByRole('region', { name: 'Pages of the document' });
    await pages.getByText('<b>Invoice</b>').waitFor();
    const billed = () => asked.filter((one) => /^POST \/v1\/(?:extract|to-markdown|canonical)/.test(one));
    expect(billed()).to.deep.equal([]);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('[data-cost]').waitFor();
    await page.locator('button[data-value="/invoice_number"]').click();
    await page.waitForFunction(() => CSS.highlights.has('cited'));
    expect(await marked(page)).to.deep.equal({ text: 'LF-77', isSeen: true });
    expect(billed()).to.deep.equal(['POST /v1/canonical']);
    expect(faults(page)).to.deep.equal([]);
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('is a table where it is one', async () => {
    const page = await world.open('/playground', { key });
    await page.locator('input[type=file]').setInputFiles(bookFile());
    await page
      .getByRole('region', { name: 'Pages of the document' })
      .getByRole('cell', { name: 'Bolt' })
      .waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('says what it costs to be shown where only the service can read it, and is converted when asked', async () => {
    const page = await world.open('/playground', { key });
    const rtf = { name: 'a.rtf', mimeType: 'application/rtf', buffer: Buffer.from('{\\rtf1 Some words}') };
    await page.locator('input[type=file]').setInputFiles(rtf);
    const pages = page.getByRole('region', { name: 'Pages of the document' });
    await pages.getByText(/convert it \(\d+ credits?\)/).waitFor();
    await pages.getByRole('button', { name: 'Convert to markdown' }).click();
    await pages.getByText('Some words').waitFor();
    await pages.getByText('As the service reads it.').waitFor();
  });
});
