import { expect } from 'chai';
import { extract } from '../../../extraction/extract.ts';
import { tableOf, type Block, type Document } from '../../../document/document.ts';
import { openFlow } from '../../../formats/pieces/flow.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { laidOut } from '../../support/laidOut.ts';

const text = (content: string): Block => ({ kind: 'paragraph', text: content, markdown: content, box: null });
const heading = (content: string): Block => ({
  kind: 'heading',
  level: 2,
  text: content,
  markdown: content,
  box: null,
});
const item = (content: string, number: number | null = null): Block => ({
  kind: 'list_item',
  ordered: number !== null,
  number,
  depth: 0,
  text: content,
  markdown: content,
  box: null,
});

async function flowOf(...blocks: readonly Block[]): Promise<Document> {
  const read = await openFlow({ mimeType: 'text/html', blocks }).read();
  if (read.kind !== 'ok') throw new Error(read.kind);
  return read.document;
}

const valueOf = (document: Document, name: string, schema: JsonObject): Json =>
  extract(document, { type: 'object', properties: { [name]: schema } }).value[name] ?? null;

const texts: JsonObject = { type: 'array', items: { type: 'string' } };
const rows = (properties: JsonObject): JsonObject => ({
  type: 'array',
  items: { type: 'object', properties },
});

describe('lists of texts', () => {
  const cases: readonly (readonly [string, readonly Block[]])[] = [
    ['after a label', [text('Keywords: frogs, still water, newts'), text('Frogs live in ponds.')]],
    ['parted by dots', [text('Keywords: frogs · still water · newts')]],
    ['with a word before the last', [text('Keywords: frogs, still water and newts')]],
    ['as lines below a heading', [heading('Keywords'), text('frogs\nstill water\nnewts'), text('More.')]],
    [
      'as lines of several blocks below a title',
      [heading('KEYWORDS'), text('frogs'), text('still water\nnewts'), heading('PONDS'), text('Deep ones')],
    ],
    ['as a list', [heading('KEYWORDS'), item('frogs'), item('still water'), item('newts'), text('More.')]],
    ['as ticked boxes', [text('Keywords: ☒ frogs ☐ toads ☒ still water ☒ newts')]],
  ];
  for (const [how, blocks] of cases)
    it(`are found ${how}`, async () => {
      const found = valueOf(await flowOf(...blocks), 'keywords', texts);
      expect(found).to.deep.equal(['frogs', 'still water', 'newts']);
    });

  it('are no prose that follows a heading', async () => {
    const prose = 'The keywords of this paper were chosen late, after much talk, and long walks. '.repeat(4);
    expect(valueOf(await flowOf(heading('Keywords'), text(prose)), 'keywords', texts)).to.equal(null);
  });
});

describe('lists of rows outside of tables', () => {
  it('are the lines below their label, each with its members', async () => {
    const document = await flowOf(text('Keepers present:\nMrs Ada Low, mill pond\nBo Renn, church pond'));
    expect(
      valueOf(document, 'keepers', rows({ name: { type: 'string' }, place: { type: 'string' } })),
    ).to.deep.equal([
      { name: 'Ada Low', place: 'mill pond' },
      { name: 'Bo Renn', place: 'church pond' },
    ]);
  });

  const items = [
    { number: 1, title: 'Opening' },
    { number: 2, title: 'Count of frogs' },
    { number: 3, title: 'Closing' },
  ];
  const numbered = rows({ number: { type: 'integer' }, title: { type: 'string' } });

  it('are the items that are numbered on', async () => {
    const flow = await flowOf(...items.map(({ number, title }) => item(title, number)));
    expect(valueOf(flow, 'agenda_items', numbered)).to.deep.equal(items);
  });

  it('are numbered items on a page, whatever stands between them', () => {
    const page = laidOut([
      [
        [50, 100, '1.'],
        [80, 100, 'Opening'],
        [80, 120, '1. Sub-item one'],
        [80, 140, '2. Sub-item two'],
        [50, 160, '2.'],
        [80, 160, 'Count of frogs'],
        [80, 180, 'Bring 3. of May lists.'],
        [50, 200, '3.'],
        [80, 200, 'Closing'],
      ],
    ]);
    expect(valueOf(page, 'agenda_items', numbered)).to.deep.equal(items);
  });
});

describe('a table that has little of a list', () => {
  const asked = rows({
    room: { type: 'string' },
    house_name: { type: 'string' },
    room_price: { type: 'number' },
  });

  it('does not answer it, though its title has the words of the list', async () => {
    const table = tableOf(
      [
        ['House', 'Price and taxes'],
        ['Blue', '120'],
        ['Red', '95'],
        ['Green', '210'],
      ],
      1,
    );
    expect(valueOf(await flowOf(heading('Room rates'), table), 'room_rates', asked)).to.equal(null);
  });

  it('comes after lines that begin with the word of the list', () => {
    const lots = rows({
      lot_number: { type: 'string' },
      lot_title: { type: 'string' },
      lot_price: { type: 'number' },
    });
    const page = laidOut([
      [
        [60, 40, 'Lots of the auction'],
        [60, 60, 'Lot title'],
        [300, 60, 'Lot price'],
        [60, 80, 'Lot 1 - Oak table'],
        [300, 80, '160.00'],
        [60, 100, 'Lot 2 - Brass lamp'],
        [300, 100, '45.00'],
        [60, 120, 'Lot 3 - Wall clock'],
        [300, 120, '75.00'],
      ],
    ]);
    expect(valueOf(page, 'lots', lots)).to.deep.equal([
      { lot_number: '1', lot_title: 'Oak table', lot_price: 160 },
      { lot_number: '2', lot_title: 'Brass lamp', lot_price: 45 },
      { lot_number: '3', lot_title: 'Wall clock', lot_price: 75 },
    ]);
  });
});
