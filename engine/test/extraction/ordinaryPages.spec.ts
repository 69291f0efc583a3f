import { expect } from 'chai';
import { blocksOf } from '../../formats/pieces/blocks.ts';
import { flowDocument } from '../../formats/pieces/flow.ts';
import { htmlPieces } from '../../formats/text/html.ts';
import { markdownDocument } from '../../formats/text/markdownDocument.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { extract } from '../../extraction/extract.ts';

const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };

const schemaOf = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const listOf = (properties: JsonObject, description = ''): JsonObject => ({
  type: 'array',
  description,
  items: schemaOf(properties),
});

/** What is read from lines whose columns are set apart with spaces. */
const fromText = (text: string, properties: JsonObject): Json =>
  extract(textDocument(text), schemaOf(properties)).value;
const fromMarkdown = (text: string, properties: JsonObject): Json =>
  extract(markdownDocument(text), schemaOf(properties)).value;
const fromHtml = (text: string, properties: JsonObject): Json => {
  const document = flowDocument({ mimeType: 'text/html', blocks: blocksOf(htmlPieces(text).pieces) });
  return extract(document, schemaOf(properties)).value;
};

describe('what ordinary pages have in common', () => {
  it('rows of a single text are the entries below the heading that has the name of the list', () => {
    const page =
      '# Boat survey\n\n## Defects found\n\n- Cracked rudder stock\n- Worn anode on the shaft\n\n' +
      '## Advice\n\nHaul out.';
    expect(fromMarkdown(page, { defectsFound: listOf({ defect: TEXT }) })).to.deep.equal({
      defectsFound: [{ defect: 'Cracked rudder stock' }, { defect: 'Worn anode on the shaft' }],
    });
  });

  it('a description may give the printed label in the script of the document', () => {
    const page = '船名  白鳥丸    船籍港  神戸\n総トン数  1,250';
    expect(
      fromText(page, {
        shipName: { ...TEXT, description: 'name of the ship (船名)' },
        homePort: { ...TEXT, description: 'port of registry (船籍港) as printed' },
        grossTons: { ...NUMBER, description: 'gross tonnage (総トン数)' },
      }),
    ).to.deep.equal({ shipName: '白鳥丸', homePort: '神戸', grossTons: 1250 });
  });

  const READINGS =
    '| Sample | | Reading | Unit | Limits |\n|---|---|---|---|---|\n| Nitrate | | 12 | mg/l | 0 - 50 |\n' +
    '| Total Hardness | H | 31 | dH | 4 - 20 |\n| Iron | | 0.1 | mg/l | 0 - 0.2 |\n| Lead | L | 3 | ug/l | 5 - 10 |';

  it('a description may give the printed title of one of two tables that have the same columns', () => {
    const table = (one: string, amount: number): string =>
      `| 品名 | 金額 |\n|---|---|\n| ${one} | ${amount} |\n| 他 | 5 |`;
    const page = `## 収入\n\n${table('会費', 300)}\n\n## 支出\n\n${table('家賃', 120)}`;
    const members = {
      item: { ...TEXT, description: 'what it is (品名)' },
      amount: { ...NUMBER, description: 'yen (金額)' },
    };
    const lists = {
      spent: listOf(members, 'what was paid (支出)'),
      received: listOf(members, 'what came in (収入)'),
    };
    const { spent, received } = fromMarkdown(page, lists) as Record<string, readonly JsonObject[]>;
    expect([spent?.[0], received?.[0]]).to.deep.equal([
      { item: '家賃', amount: 120 },
      { item: '会費', amount: 300 },
    ]);
  });

  it('a column without a header is that of the only text that has none, though few rows fill it', () => {
    const members = { sample: TEXT, reading: NUMBER, unit: TEXT, limits: TEXT, flag: TEXT };
    expect(fromMarkdown(READINGS, { readings: listOf(members) })).to.deep.equal({
      readings: [
        { sample: 'Nitrate', reading: 12, unit: 'mg/l', limits: '0 - 50' },
        { sample: 'Total Hardness', reading: 31, unit: 'dH', limits: '4 - 20', flag: 'H' },
        { sample: 'Iron', reading: 0.1, unit: 'mg/l', limits: '0 - 0.2' },
        { sample: 'Lead', reading: 3, unit: 'ug/l', limits: '5 - 10', flag: 'L' },
      ],
    });
  });

  it('a sum is no row, though a row may be called "Total" too', () => {
    const table =
      '| Sample | Reading | Unit | Limits |\n|---|---|---|---|\n| Nitrate | 12 | mg/l | 0 - 50 |\n' +
      '| Total Hardness | 31 | dH | 4 - 20 |\n| Total | 43 | | |';
    const { readings } = fromMarkdown(table, {
      readings: listOf({ sample: TEXT, reading: NUMBER, unit: TEXT, limits: TEXT }),
    }) as { readings: readonly JsonObject[] };
    expect(readings.map(({ sample }) => sample)).to.deep.equal(['Nitrate', 'Total Hardness']);
  });

  it('a name of a country is no count', () => {
    const table =
      '| Country | Product | Units Sold |\n|---|---|---|\n| Chad | Salt | 12 |\n| Peru | Tin | 30 |';
    const shipments = listOf({ country: TEXT, product: TEXT });
    expect(fromMarkdown(table, { shipments })).to.deep.equal({
      shipments: [
        { country: 'Chad', product: 'Salt' },
        { country: 'Peru', product: 'Tin' },
      ],
    });
  });

  it('a description may say that a date is the one a document was made at', () => {
    const page =
      'THIS DEED is made as of the 30th\nday of September, 2016 by and between ACORN BARNS, LLC, a Maine limited ' +
      'liability\ncompany ("Owner"), and FELL SURVEYORS, INC., a Delaware corporation ("Surveyor"), and both of ' +
      'them\nagree that the works begin when the owner has told the surveyor in writing that the site is free.';
    const deedDate = { ...TEXT, format: 'date', description: 'date the deed is made as of' };
    expect(fromText(page, { deedDate })).to.deep.equal({ deedDate: '2016-09-30' });
  });

  it('a label of name and address has the first line for the one, and the lines below for the other', () => {
    const page = [
      'BERTH HOLDER NAME AND ADDRESS:      HARBOUR OFFICE:',
      'Marta Quill & Owen Pike             North Quay Marina',
      '14 Lantern Row                      PO Box 9',
      'Falmouth, ME 04105                  Portland, ME 04101',
      '',
      'Berth no. 77',
    ].join('\n');
    const asked = {
      holderName: { ...TEXT, description: 'name of the berth holder' },
      holderAddress: { ...TEXT, description: "berth holder's mailing address on one line" },
    };
    expect(fromText(page, asked)).to.deep.equal({
      holderName: 'Marta Quill & Owen Pike',
      holderAddress: '14 Lantern Row, Falmouth, ME 04105',
    });
  });

  it('a label at the left has all lines of an address at its right, up to the next label', () => {
    const page = [
      'PERMIT CARD',
      'HOLDER             Estelle Marsh',
      'ADDRESS            596 Crossover Way',
      '                   Flat 3',
      '                   Clay, FL 17189',
      'VALID UNTIL        3 May 2027',
      'ZONE               Harbour',
    ].join('\n');
    expect(fromText(page, { holder: TEXT, address: TEXT, zone: TEXT })).to.deep.equal({
      holder: 'Estelle Marsh',
      address: '596 Crossover Way, Flat 3, Clay, FL 17189',
      zone: 'Harbour',
    });
  });

  it('a heading says whose the labels below it are, on an invoice too', () => {
    const party = schemaOf({ name: TEXT, address: TEXT });
    const page = [
      'Seller',
      'Name: Oak & Thorn Ltd',
      'Address: 4 Mill Lane, Leeds',
      '',
      'Buyer',
      'Name: Bramble GmbH',
      'Address: Uferweg 9, Kiel',
      '',
      'Invoice number: 88-1',
      'Total: 120.00',
    ].join('\n');
    expect(
      fromText(page, { invoice_number: TEXT, total: NUMBER, seller: party, buyer: party }),
    ).to.deep.equal({
      invoice_number: '88-1',
      total: 120,
      seller: { name: 'Oak & Thorn Ltd', address: '4 Mill Lane, Leeds' },
      buyer: { name: 'Bramble GmbH', address: 'Uferweg 9, Kiel' },
    });
  });

  it('a row has the lines below it up to the next number', () => {
    const page = [
      'No.   Description                         Amount',
      '1     Oil filter for the main engine       120.00',
      '      with gasket and seal',
      '2     Impeller                              45.50',
      '      kit of six',
      '3     Anode                                 18.00',
    ].join('\n');
    const items = listOf({ number: { type: 'integer' }, description: TEXT, amount: NUMBER });
    expect(fromText(page, { items })).to.deep.equal({
      items: [
        { number: 1, description: 'Oil filter for the main engine with gasket and seal', amount: 120 },
        { number: 2, description: 'Impeller kit of six', amount: 45.5 },
        { number: 3, description: 'Anode', amount: 18 },
      ],
    });
  });

  it('words and whole amounts that end below each other are a table without a header', () => {
    const page =
      'HALL HIRE\nMain hall, evening          180\nKitchen                      45\nCleaning                     25';
    const charges = listOf({ description: TEXT, amount: NUMBER }, 'charge lines');
    expect(fromText(page, { charges })).to.deep.equal({
      charges: [
        { description: 'Main hall, evening', amount: 180 },
        { description: 'Kitchen', amount: 45 },
        { description: 'Cleaning', amount: 25 },
      ],
    });
    const apart = page.replace('  45', '45').replace('Cleaning ', 'Cleaning               ');
    expect(fromText(apart, { charges })).to.deep.equal({});
  });

  it('of two such lists side by side each text has the amount at its right, this year before last', () => {
    const page = [
      'ASSETS                    2026    2025    DEBTS                   2026    2025',
      'Boats and gear           1,840   1,900    Loan of the bank         900   1,000',
      'Mooring rights             300     300    Unpaid bills              41      12',
      'Cash at hand                25      17    Prepaid fees             124      80',
    ].join('\n');
    const entries = listOf({ position: TEXT, amount: NUMBER }, 'all lines of the balance');
    const { entries: found } = fromText(page, { entries }) as { entries: readonly JsonObject[] };
    expect(found).to.have.deep.members([
      { position: 'Boats and gear', amount: 1840 },
      { position: 'Mooring rights', amount: 300 },
      { position: 'Cash at hand', amount: 25 },
      { position: 'Loan of the bank', amount: 900 },
      { position: 'Unpaid bills', amount: 41 },
      { position: 'Prepaid fees', amount: 124 },
    ]);
  });

  it('a check list is a text and whether its box is ticked', () => {
    const page = 'Opening checks\n[x] Doors unlocked\n[ ] Alarm tested\n[x] Lights on';
    expect(fromText(page, { checks: listOf({ item: TEXT, done: { type: 'boolean' } }) })).to.deep.equal({
      checks: [
        { item: 'Doors unlocked', done: true },
        { item: 'Alarm tested', done: false },
        { item: 'Lights on', done: true },
      ],
    });
  });

  it('a line of settings is a name and its value', () => {
    const page = 'ship.name=White Swan\nship.port=Kobe\ncrew_count=12\nlast_survey=2026-03-02\n';
    const ship = schemaOf({ name: TEXT, port: TEXT });
    expect(fromText(page, { ship, crewCount: { type: 'integer' } })).to.deep.equal({
      ship: { name: 'White Swan', port: 'Kobe' },
      crewCount: 12,
    });
  });

  it('how many of what was sold may stand before its name', () => {
    const page = [
      'GREEN CAFE',
      '1 Flat white        $4.20',
      '2 Almond slice      $7.00',
      '1 Still water       $2.50',
      'Total              $13.70',
    ].join('\n');
    const items = listOf({ quantity: NUMBER, description: TEXT, price: NUMBER });
    expect(fromText(page, { items })).to.deep.equal({
      items: [
        { quantity: 1, description: 'Flat white', price: 4.2 },
        { quantity: 2, description: 'Almond slice', price: 7 },
        { quantity: 1, description: 'Still water', price: 2.5 },
      ],
    });
  });

  it('rows may begin with the word of their list and a letter or number', () => {
    const page = [
      'SALE CATALOGUE',
      'Lot 1 - Oak table         $300',
      'Lot 2 - Brass lamp         $45',
      'Viewing from ten',
      'Lot 3 - Rug                $80',
    ].join('\n');
    const lots = listOf({ lotNumber: { type: 'integer' }, title: TEXT, estimate: NUMBER });
    expect(fromText(page, { lots })).to.deep.equal({
      lots: [
        { lotNumber: 1, title: 'Oak table', estimate: 300 },
        { lotNumber: 2, title: 'Brass lamp', estimate: 45 },
        { lotNumber: 3, title: 'Rug', estimate: 80 },
      ],
    });
  });

  it('a header over a column of days and one of times is the header of both as one', () => {
    const header = '<tr><th>Boat</th><th colspan="2">Departure</th><th>Berths</th></tr>';
    const row = (...cells: readonly string[]): string =>
      `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
    const page = `<table>${header}${row('Heron', '06/05', '08:30', '12')}${row('Tern', '06/07', '09:15', '8')}</table>`;
    const sailings = listOf({ boat: TEXT, departure: TEXT, berths: NUMBER });
    expect(fromHtml(page, { sailings })).to.deep.equal({
      sailings: [
        { boat: 'Heron', departure: '06/05 08:30', berths: 12 },
        { boat: 'Tern', departure: '06/07 09:15', berths: 8 },
      ],
    });
  });

  it('a header over two columns of amounts is not the header of both as one', () => {
    const header = '<tr><th>Chapter</th><th colspan="2">Spent</th><th>Staff</th></tr>';
    const page =
      `<table>${header}<tr><td>Roads</td><td>410</td><td>380</td><td>12</td></tr>` +
      '<tr><td>Parks</td><td>95</td><td>90</td><td>8</td></tr></table>';
    const { chapters } = fromHtml(page, {
      chapters: listOf({ chapter: TEXT, spent: TEXT, staff: NUMBER }),
    }) as {
      chapters: readonly JsonObject[];
    };
    expect(chapters.map(({ chapter, staff }) => [chapter, staff])).to.deep.equal([
      ['Roads', 12],
      ['Parks', 8],
    ]);
    expect(JSON.stringify(chapters)).to.not.match(/410 380|95 90/);
  });
});
