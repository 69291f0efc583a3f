import { expect } from 'chai';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { utils, write } from '@e965/xlsx';
import { openFile, readFileAsDocument } from '../../formats/readDocument.ts';
import type { ReceivedFile } from '../../isolation/children/jobs.ts';
import { epub } from '../support/bookFiles.ts';
import { ods } from '../support/officeFiles.ts';
import { pptx } from '../support/slideFiles.ts';

/** As often as a small file can name one of its parts. */
const OFTEN = 10_000;

const received = (bytes: Buffer, fileName: string): ReceivedFile => ({
  bytes,
  fileName,
  pagesMax: 2_000,
  effort: 'fast',
  languages: [],
});
const opened = async (bytes: Buffer, fileName: string) => {
  const file = await openFile(received(bytes, fileName));
  return file.kind === 'open' ? file.pages : file;
};
const read = (bytes: Buffer, fileName: string) => readFileAsDocument(received(bytes, fileName));

/** An archive with one of its members changed. */
const changed = (archive: Buffer, name: string, change: (text: string) => string): Buffer => {
  const members = unzipSync(archive);
  const before = strFromU8(members[name] ?? new Uint8Array());
  const after = change(before);
  expect(after, name).not.to.equal(before);
  return Buffer.from(zipSync({ ...members, [name]: strToU8(after) }));
};

const workbook = (rows: readonly (readonly string[])[]): Buffer => {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows.map((row) => [...row])), 'Sheet1');
  return Buffer.from(write(book, { type: 'buffer', bookType: 'xlsx', bookSST: true }) as Uint8Array);
};

describe('a file that names one of its parts very often', () => {
  const CHAPTER = `<p>${'Lorem ipsum dolor sit amet. '.repeat(400)}</p>`;

  it('has the chapter of a book once', async () => {
    const book = epub({ 'one.xhtml': CHAPTER });
    const often = changed(book, 'book/main.opf', (text) =>
      text.replace('<itemref idref="i0"/>', '<itemref idref="i0"/>'.repeat(OFTEN)),
    );
    expect(await opened(often, 'a.epub')).to.equal(await opened(book, 'a.epub'));
  });

  it('has the slide of a presentation once', async () => {
    const slides = pptx({ slides: [{ shapes: '' }] });
    const often = changed(slides, 'ppt/presentation.xml', (text) =>
      text.replace('<p:sldId id="256" r:id="s0"/>', '<p:sldId id="256" r:id="s0"/>'.repeat(OFTEN)),
    );
    expect(await opened(often, 'a.pptx')).to.equal(1);
  });

  it('is no workbook', async () => {
    const book = workbook([['Item', 'Sum']]);
    const [sheet = ''] =
      /<sheet [^>]*>/.exec(strFromU8(unzipSync(book)['xl/workbook.xml'] ?? new Uint8Array())) ?? [];
    const often = changed(book, 'xl/workbook.xml', (text) => text.replace(sheet, sheet.repeat(OFTEN)));
    expect(await opened(often, 'a.xlsx')).to.include({ kind: 'unreadable' });
  });
});

describe('a small file that shows very much', () => {
  const long = 'x'.repeat(30_000);
  const REPEATS = 'The workbook repeats its texts more often than is read.';

  it('by rows that repeat is refused before they are filled', async () => {
    const cell = `<table:table-cell><text:p>${long}</text:p></table:table-cell>`;
    const rows = `<table:table-row table:number-rows-repeated="1000000">${cell}</table:table-row>`;
    const file = ods({ body: `<table:table table:name="a">${rows}</table:table>` });
    expect(await opened(file, 'a.ods')).to.deep.equal({ kind: 'unreadable', detail: REPEATS });
  });

  it('by a text that many cells share is refused', async () => {
    const file = workbook(Array.from({ length: 5_000 }, () => [long]));
    expect(await opened(file, 'a.xlsx')).to.deep.equal({ kind: 'unreadable', detail: REPEATS });
  });

  it('by an archive that grows is refused before it is unpacked', async () => {
    const file = epub({ 'one.xhtml': `<p>${' '.repeat(30_000_000)}</p>` });
    const refused = await opened(file, 'a.epub');
    expect(refused).to.include({ kind: 'unreadable' });
    expect(refused).to.have.property('detail').that.contains('grows to more than');
  });

  it('by a chart that thousands of frames show is refused', async () => {
    const values = Array.from(
      { length: 3_000 },
      (_, at) => `<c:pt idx="${String(at)}"><c:v>${String(at)}</c:v></c:pt>`,
    );
    const space = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"';
    const series = `<c:ser><c:val>${values.join('')}</c:val></c:ser>`;
    const chart = `<c:chartSpace ${space}><c:chart><c:plotArea>${series}</c:plotArea></c:chart></c:chartSpace>`;
    const shown = `<a:graphic><a:graphicData><c:chart ${space} r:id="c"/></a:graphicData></a:graphic>`;
    const frame = `<p:graphicFrame>${shown}</p:graphicFrame>`;
    const slide = { shapes: frame.repeat(3_000), near: [['c', 'chart', '../charts/c.xml']] } as const;
    const file = pptx({ slides: [slide], members: { 'ppt/charts/c.xml': chart } });
    expect(await opened(file, 'a.pptx')).to.deep.equal({
      kind: 'unreadable',
      detail: 'A slide has more than 2000000 characters.',
    });
  });

  it('on one page is refused', async () => {
    const merged = `<table:table-cell table:number-columns-spanned="100" table:number-rows-spanned="100">`;
    const cell = `${merged}<text:p>${long}</text:p></table:table-cell>`;
    const edge = '<table:covered-table-cell table:number-columns-repeated="98"/>';
    const small = '<table:table-cell><text:p>x</text:p></table:table-cell>';
    const row = (cells: string, repeats = 1) =>
      `<table:table-row table:number-rows-repeated="${String(repeats)}">${cells}</table:table-row>`;
    const rows = `${row(cell + edge + small + small)}${row(small.repeat(101), 100)}`;
    const body = `<table:table table:name="a">${rows}</table:table>`;
    const refused = await read(ods({ body }), 'a.ods');
    expect(refused).to.include({ kind: 'unreadable' });
    expect(refused).to.have.property('detail').that.contains('2000000 characters');
  });
});
