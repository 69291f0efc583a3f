import { expect } from 'chai';
import { utils, write } from '@e965/xlsx';
import { openXlsx } from '../../../formats/sheets/openWorkbook.ts';
import { extract } from '../../../extraction/extract.ts';
import { tableOf, type Block, type Document } from '../../../document/document.ts';
import { openFlow } from '../../../formats/pieces/flow.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { documentBy } from '../../support/officeFiles.ts';

const text = (content: string): Block => ({ kind: 'paragraph', text: content, markdown: content, box: null });

async function flowOf(...blocks: readonly Block[]): Promise<Document> {
  const read = await openFlow({ mimeType: 'text/html', blocks }).read();
  if (read.kind !== 'ok') throw new Error(read.kind);
  return read.document;
}

const sheetOf = (rows: readonly (readonly string[])[]): Promise<Document> => {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows.map((row) => [...row])), 'Ponds');
  return documentBy(openXlsx, write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer);
};

const listOf = (properties: JsonObject, description = ''): JsonObject => ({
  type: 'array',
  description,
  items: { type: 'object', properties },
});

const rowsOf = (document: Document, ponds: JsonObject): Json =>
  extract(document, { type: 'object', properties: { ponds } }).value['ponds'] ?? null;

const pond = {
  pond: { type: 'string' },
  keeper: { type: 'string' },
  frogs: { type: 'integer', description: 'Number of frogs counted' },
};

describe('rows of a register', () => {
  it('are told by the words of the schema, all of them, without sums', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Pond', 'Keeper', 'No. of frogs (a)', 'Depth'],
          ['Mill', 'Ada Low', '12', '1.2'],
          ['Church', 'Bo Renn', '1,030', '0.8'],
          ['Total', '', '1,042', ''],
        ],
        1,
      ),
    );
    expect(rowsOf(document, listOf(pond))).to.deep.equal([
      { pond: 'Mill', keeper: 'Ada Low', frogs: 12 },
      { pond: 'Church', keeper: 'Bo Renn', frogs: 1030 },
    ]);
  });

  it('are without the sums of groups and of the whole, whatever these are called', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Pond', 'Keeper', 'No. of frogs (a)', 'Depth'],
          ['Mill', 'Ada Low', '12', '1.2'],
          ['Church', 'Bo Renn', '30', '0.8'],
          ['Ponds of the north, total', '', '42', '2.0'],
          ['Lake Total', 'Cy Hill', '7', '3.1'],
          ['Net amount', '', '49', '1.5'],
          ['Tax amount', '', '9', '0.2'],
        ],
        1,
      ),
    );
    expect(rowsOf(document, listOf(pond))).to.deep.equal([
      { pond: 'Mill', keeper: 'Ada Low', frogs: 12 },
      { pond: 'Church', keeper: 'Bo Renn', frogs: 30 },
      { pond: 'Lake Total', keeper: 'Cy Hill', frogs: 7 },
    ]);
  });

  it('have headers on two levels', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Pond', 'Spring', '', 'Autumn', ''],
          ['', 'Frogs', 'Newts', 'Frogs', 'Newts'],
          ['Mill', '1', '2', '3', '4'],
          ['Church', '5', '6', '7', '8'],
        ],
        2,
      ),
    );
    const schema = listOf({
      pond: { type: 'string' },
      frogs_spring: { type: 'integer' },
      newts_autumn: { type: 'integer' },
    });
    expect(rowsOf(document, schema)).to.deep.equal([
      { pond: 'Mill', frogs_spring: 1, newts_autumn: 4 },
      { pond: 'Church', frogs_spring: 5, newts_autumn: 8 },
    ]);
  });

  const seasons = (pond: string, numbers: readonly string[], y: number): readonly Placed[] => [
    [40, y, pond],
    ...numbers.map((number, i): Placed => [180 + 45 * i, y, number, 'right']),
  ];
  const counts = [
    ...seasons('Mill', ['1', '2', '-50', '11', '12', '-8'], 140),
    ...seasons('Church', ['3', '4', '-25', '13', '14', '-7'], 154),
    ...seasons('Manor', ['5', '6', '-17', '15', '16', '-6'], 168),
  ];
  const years = ['2022', '2021', '% chg', '2022', '2021', '% chg'];

  it('have groups of columns that are named in their middle, without rules', () => {
    const page: readonly Placed[] = [
      [190, 110, 'Week to date'],
      [325, 110, 'Year to date'],
      ...seasons('Pond', years, 124),
      ...counts,
    ];
    const schema = listOf({
      pond: { type: 'string' },
      week_2022: { type: 'integer', description: 'Frogs in the week to date, 2022' },
      week_2021: { type: 'integer', description: 'Frogs in the week to date, 2021' },
      year_to_date_2022: { type: 'integer' },
    });
    expect(rowsOf(laidOut([page]), schema)).to.deep.equal([
      { pond: 'Mill', week_2022: 1, week_2021: 2, year_to_date_2022: 11 },
      { pond: 'Church', week_2022: 3, week_2021: 4, year_to_date_2022: 13 },
      { pond: 'Manor', week_2022: 5, week_2021: 6, year_to_date_2022: 15 },
    ]);
  });

  it('go on over pages, with and without their header again', () => {
    const line = (y: number, cells: readonly [string, string, string]): readonly Placed[] => [
      [40, y, cells[0]],
      [200, y, cells[1]],
      [400, y, cells[2], 'right'],
    ];
    const head = ['Pond', 'Keeper', 'Frogs'] as const;
    const names = ['Mill', 'Church', 'Manor', 'Abbey', 'Forge', 'Lock', 'Weir', 'Ford'];
    const page = (from: number, hasHead: boolean): readonly Placed[] => [
      ...(hasHead ? line(60, [...head]) : []),
      ...names
        .slice(from, from + 4)
        .flatMap((name, i) => line(80 + 14 * i, [name, 'Ada Low', String(from + i)])),
    ];
    const frogs = names.map((pond, i) => ({ pond, keeper: 'Ada Low', frogs: i }));
    for (const again of [true, false])
      expect(rowsOf(laidOut([page(0, true), page(4, again)]), listOf(pond))).to.deep.equal(frogs);
  });

  it('are taken from the table under the title that the description names', async () => {
    const table = (frogs: string): Block =>
      tableOf(
        [
          ['Pond', 'Keeper', 'Frogs'],
          ['Mill', 'Ada Low', frogs],
        ],
        1,
      );
    const document = await flowOf(text('Count of 2021'), table('3'), text('Count of 2022'), table('4'));
    expect(rowsOf(document, listOf(pond, 'Ponds of 2022'))).to.deep.equal([
      { pond: 'Mill', keeper: 'Ada Low', frogs: 4 },
    ]);
  });

  it('come from all tables that are headed alike, with the group that stands between them', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Pond', 'Keeper', 'Frogs'],
          ['North side', '', ''],
          ['Mill', 'Ada Low', '1'],
          ['South side', '', ''],
          ['Church', 'Bo Renn', '2'],
        ],
        1,
      ),
      text('Continued'),
      tableOf(
        [
          ['Pond', 'Keeper', 'Frogs'],
          ['Manor', 'Cy Dow', '3'],
        ],
        1,
      ),
    );
    expect(rowsOf(document, listOf({ ...pond, side: { type: 'string' } }))).to.deep.equal([
      { pond: 'Mill', keeper: 'Ada Low', frogs: 1, side: 'North side' },
      { pond: 'Church', keeper: 'Bo Renn', frogs: 2, side: 'South side' },
      { pond: 'Manor', keeper: 'Cy Dow', frogs: 3 },
    ]);
  });

  it('are left out as the description says', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Pond', 'Keeper', 'Frogs'],
          ['Mill', 'Ada Low', '1'],
          ['Unnamed ponds (b)', 'nobody', '9'],
        ],
        1,
      ),
    );
    const rows = rowsOf(document, listOf(pond, 'Counted ponds, without unnamed ponds'));
    expect(rows).to.deep.equal([{ pond: 'Mill', keeper: 'Ada Low', frogs: 1 }]);
  });

  it('are none where a table answers something else', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Pond', 'Depth', 'Owner since'],
          ['Mill', '1.2', 'spring'],
        ],
        1,
      ),
    );
    expect(rowsOf(document, listOf(pond))).to.equal(null);
  });

  it('stand in a sheet below its own head, whatever is empty between', async () => {
    const document = await sheetOf([
      ['Count of the society', '', '', ''],
      ['Date', '1 May 2021', '', ''],
      [],
      ['', 'Keeper', '', 'Frogs'],
      [],
      ['Mill', 'Ada Low', '', '12'],
      ['Church', 'Bo Renn', '', '30'],
      ['Total', '', '', '42'],
    ]);
    expect(rowsOf(document, listOf(pond))).to.deep.equal([
      { pond: 'Mill', keeper: 'Ada Low', frogs: 12 },
      { pond: 'Church', keeper: 'Bo Renn', frogs: 30 },
    ]);
  });

  it('are those of one kind, where the list is named for a value of a column', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Pond', 'Water', 'Keeper', 'Frogs'],
          ['Mill', 'Salt', 'Ada Low', '12'],
          ['Church', 'Fresh', 'Bo Renn', '30'],
          ['Manor', 'salt', 'Cy Dale', '7'],
          ['Abbey', 'Fresh', 'Di Holm', '9'],
        ],
        1,
      ),
    );
    const found = (name: string, properties: JsonObject = pond): Json =>
      extract(document, { type: 'object', properties: { [name]: listOf(properties) } }).value[name] ?? null;
    const salt = [
      { pond: 'Mill', keeper: 'Ada Low', frogs: 12 },
      { pond: 'Manor', keeper: 'Cy Dale', frogs: 7 },
    ];
    expect(found('salt_ponds')).to.deep.equal(salt);
    expect(found('saltWaterRows')).to.deep.equal(salt);
    expect(found('fresh_ponds')).to.have.length(2);
    for (const name of ['ponds', 'salt', 'deep_ponds', 'salted_ponds'])
      expect(found(name), name).to.have.length(4);
    // Of a column in which each row says something else, a name chooses none.
    expect(found('mill_ponds')).to.have.length(4);
    // Short words and numbers stand in names by chance.
    const bare = await flowOf(
      tableOf(
        [
          ['Pond', 'Fish', 'Keeper', 'Frogs'],
          ['Mill', 'no', 'Ada Low', '2'],
          ['Church', 'yes', 'Bo Renn', '3'],
          ['Manor', 'no', 'Cy Dale', '2'],
          ['Abbey', 'yes', 'Di Holm', '3'],
        ],
        1,
      ),
    );
    for (const name of ['no_salt_ponds', 'table_2_ponds', 'pond_2_rows'])
      expect(
        extract(bare, { type: 'object', properties: { [name]: listOf(pond) } }).value[name],
        name,
      ).to.have.length(4);
  });

  it('are told once, though their lines stand under two headers: a title names the members, too', () => {
    const row = (y: number, keeper: string, frogs: string): readonly Placed[] => [
      [100, y, keeper],
      [400, y, frogs, 'right'],
    ];
    const names = [
      'Mill Keepers Guild',
      'Church Ward',
      'Manor',
      'Abbey House',
      'Forge',
      'Lock',
      'Weir',
      'Ford',
    ];
    const page = [
      [200, 60, 'KEEPERS AND FROGS'] as const,
      ...row(90, 'Keeper', 'Frogs'),
      ...names.flatMap((name, i) => row(106 + 14 * i, name, `${i + 1},000.50`)),
    ];
    const member = { keeperName: { type: 'string' }, frogs: { type: 'number' } };
    expect(rowsOf(laidOut([page]), listOf(member))).to.deep.equal(
      names.map((keeperName, i) => ({ keeperName, frogs: 1000 * (i + 1) + 0.5 })),
    );
  });

  it('promise less where the table has no column for members that the list asks for', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Pond', 'Keeper', 'Frogs'],
          ['Mill', 'Ada Low', '12'],
          ['Church', 'Bo Renn', '30'],
        ],
        1,
      ),
    );
    const sureOf = (properties: JsonObject): number => {
      const schema = { type: 'object', properties: { ponds: listOf(properties) } };
      return Math.max(...extract(document, schema).citations.map(({ confidence }) => confidence));
    };
    expect(sureOf(pond)).to.be.above(0.9);
    expect(sureOf({ ...pond, toads: { type: 'integer' }, newts: { type: 'integer' } })).to.be.within(
      0.5,
      0.9,
    );
  });

  it('cite the words of their cells', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Pond', 'Keeper', 'Frogs'],
          ['Mill', 'Ada Low', '12'],
        ],
        1,
      ),
    );
    const schema = { type: 'object', properties: { ponds: listOf(pond) } };
    const { citations } = extract(document, schema);
    expect(citations.map(({ path, text: cited }) => [path, cited])).to.deep.equal([
      ['/ponds/0/pond', 'Mill'],
      ['/ponds/0/keeper', 'Ada Low'],
      ['/ponds/0/frogs', '12'],
    ]);
  });
});
