import { expect } from 'chai';
import { utils, write } from '@e965/xlsx';
import { tableOf, type Block } from '../../../document/document.ts';
import { openXlsx } from '../../../formats/sheets/openWorkbook.ts';
import type { Json } from '../../../kernel/json.ts';
import { documentBy } from '../../support/officeFiles.ts';
import { flowOf, heading, listOf, read, texts } from './flows.ts';

const bird = { bird: { type: 'string' }, eggs: { type: 'integer' } };
const islands = { islands: listOf({ island: { type: 'string' }, birds: listOf(bird) }) };
const counted: Json = [
  {
    island: 'Grey Holm',
    birds: [
      { bird: 'Tern', eggs: 3 },
      { bird: 'Eider', eggs: 5 },
    ],
  },
  { island: 'Long Skerry', birds: [{ bird: 'Plover', eggs: 4 }] },
];

describe('rows that hold rows', () => {
  it('are told by a row that names the group below it', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Bird', 'Eggs', 'Seen by'],
          ['Grey Holm', '', ''],
          ['Tern', '3', 'Ada'],
          ['Eider', '5', 'Bo'],
          ['Long Skerry', '', ''],
          ['Plover', '4', 'Ada'],
        ],
        1,
      ),
    );
    expect(read(document, islands).value).to.deep.equal({ islands: counted });
  });

  it('are told by the heading above each of the tables that are headed alike', async () => {
    const table = (...rows: string[][]): Block => tableOf([['Bird', 'Eggs'], ...rows], 1);
    const document = await flowOf(
      heading('Grey Holm'),
      table(['Tern', '3'], ['Eider', '5']),
      heading('Long Skerry'),
      table(['Plover', '4']),
    );
    expect(read(document, islands).value).to.deep.equal({ islands: counted });
  });

  it('are told by a row above their header, where it comes again', async () => {
    const document = await flowOf(
      heading('Grey Holm'),
      tableOf(
        [
          ['Bird', 'Eggs', 'Seen by'],
          ['Tern', '3', 'Ada'],
          ['Eider', '5', 'Bo'],
          ['Long Skerry', '', ''],
          ['Bird', 'Eggs', 'Seen by'],
          ['Plover', '4', 'Ada'],
        ],
        1,
      ),
    );
    expect(read(document, islands).value).to.deep.equal({ islands: counted });
  });

  it('are told by a first column that prints the group once', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Island', 'Bird', 'Eggs'],
          ['Grey Holm', 'Tern', '3'],
          ['', 'Eider', '5'],
          ['Long Skerry', 'Plover', '4'],
        ],
        1,
      ),
    );
    const { value, citations } = read(document, islands);
    expect(value).to.deep.equal({ islands: counted });
    expect(citations.map(({ path, text }) => [path, text])).to.deep.equal([
      ['/islands/0/island', 'Grey Holm'],
      ['/islands/0/birds/0/bird', 'Tern'],
      ['/islands/0/birds/0/eggs', '3'],
      ['/islands/0/birds/1/bird', 'Eider'],
      ['/islands/0/birds/1/eggs', '5'],
      ['/islands/1/island', 'Long Skerry'],
      ['/islands/1/birds/0/bird', 'Plover'],
      ['/islands/1/birds/0/eggs', '4'],
    ]);
  });

  it('are told by the sheets of a workbook', async () => {
    const book = utils.book_new();
    const sheet = (name: string, ...rows: (string | number)[][]): void => {
      utils.book_append_sheet(book, utils.aoa_to_sheet([['Bird', 'Eggs'], ...rows]), name);
    };
    sheet('Grey Holm', ['Tern', 3], ['Eider', 5]);
    sheet('Long Skerry', ['Plover', 4]);
    const document = await documentBy(openXlsx, write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer);
    expect(read(document, islands).value).to.deep.equal({ islands: counted });
  });

  it('are none where a table has only their group', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Island', 'Area'],
          ['Grey Holm', '12'],
          ['Long Skerry', '4'],
        ],
        1,
      ),
    );
    expect(read(document, islands).value).to.deep.equal({});
  });
});

describe('rows with more than plain members', () => {
  it('part the texts that one cell lists, and give each its own words', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Course', 'Teachers', 'Fee'],
          ['Weaving', 'Ada Low, Bo Renn', '30'],
          ['Carving', 'Cy Hart', '45'],
        ],
        1,
      ),
    );
    const courses = listOf({ course: { type: 'string' }, teachers: texts, fee: { type: 'number' } });
    const { value, citations } = read(document, { courses });
    expect(value).to.deep.equal({
      courses: [
        { course: 'Weaving', teachers: ['Ada Low', 'Bo Renn'], fee: 30 },
        { course: 'Carving', teachers: ['Cy Hart'], fee: 45 },
      ],
    });
    expect(citations.find(({ path }) => path === '/courses/0/teachers/1')?.text).to.equal('Bo Renn');
  });

  it('fill the objects that a row holds', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Depot', 'Street', 'City'],
          ['North', '4 Mill Lane', 'Leeds'],
          ['Quay', '18 Dock Road', 'Hull'],
        ],
        1,
      ),
    );
    const address = { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } };
    const depots = listOf({ depot: { type: 'string' }, address });
    expect(read(document, { depots }).value).to.deep.equal({
      depots: [
        { depot: 'North', address: { street: '4 Mill Lane', city: 'Leeds' } },
        { depot: 'Quay', address: { street: '18 Dock Road', city: 'Hull' } },
      ],
    });
  });
});
