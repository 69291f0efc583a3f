import { expect } from 'chai';
import fc from 'fast-check';
import { columnsInOrder, type MayStand } from '../../../extraction/grids/byOrder.ts';
import { tableOf } from '../../../document/document.ts';
import { flowOf, listOf, read } from './flows.ts';

const text = { type: 'string' };
const number = { type: 'number' };
const date = { type: 'string', format: 'date' };

const rowsOf = async (rows: readonly string[][], headerRows: number, berths: Parameters<typeof listOf>[0]) =>
  read(await flowOf(tableOf(rows, headerRows)), { berths: listOf(berths) }).value['berths'] ?? null;

describe('columns that no header names', () => {
  it('are told by what stands in them and by the order of the schema', async () => {
    const rows = [
      ['Slip', 'Craft', 'Beam', 'Laid up', 'Toll'],
      ['North 1', 'Heron', '2.4', '01/10/2030', '48.50'],
      ['North 2', 'Tern', '3.1', '15/10/2030', '52.00'],
      ['South 1', 'Plover', '2.9', '20/10/2030', '48.50'],
    ];
    const asked = { code: text, called: text, metres: number, winter_from: date, dues: number };
    expect(await rowsOf(rows, 1, asked)).to.have.length(3);
    expect(await rowsOf(rows.slice(0, 3), 1, asked)).to.deep.equal([
      { code: 'North 1', called: 'Heron', metres: 2.4, winter_from: '2030-10-01', dues: 48.5 },
      { code: 'North 2', called: 'Tern', metres: 3.1, winter_from: '2030-10-15', dues: 52 },
    ]);
  });

  it('need no header at all', async () => {
    const rows = [
      ['07:30', 'Lower Quay', 'Heron', 'late'],
      ['09:00', 'Upper Quay', 'Tern', 'on time'],
      ['10:15', 'Lower Quay', 'Plover', 'on time'],
    ];
    const state = { type: 'string', enum: ['on time', 'late'] };
    expect(await rowsOf(rows, 0, { time: text, quay: text, boat: text, state })).to.deep.equal([
      { time: '07:30', quay: 'Lower Quay', boat: 'Heron', state: 'late' },
      { time: '09:00', quay: 'Upper Quay', boat: 'Tern', state: 'on time' },
      { time: '10:15', quay: 'Lower Quay', boat: 'Plover', state: 'on time' },
    ]);
  });

  it('are no amounts where zeros stand before the digits', async () => {
    const rows = [
      ['Code', 'Boat', 'Quay'],
      ['0000100001', 'Heron', 'Lower Quay'],
      ['0000100002', 'Tern', 'Upper Quay'],
    ];
    const asked = { boat: text, quay: text, toll: number };
    expect(await rowsOf(rows, 1, asked)).to.deep.equal([
      { boat: 'Heron', quay: 'Lower Quay' },
      { boat: 'Tern', quay: 'Upper Quay' },
    ]);
    const paid = rows.map(([code = '', ...others]) => [code.replace(/^0+/, ''), ...others]);
    expect(await rowsOf(paid, 1, asked)).to.have.nested.property('[0].toll', 100_001);
  });

  it('answer nothing where their values are of other types, or are more than the fields', async () => {
    const rows = [
      ['Heron', 'Lower Quay', 'green'],
      ['Tern', 'Upper Quay', 'red'],
      ['Plover', 'Lower Quay', 'blue'],
    ];
    expect(await rowsOf(rows, 0, { boat: text, length: number, toll: number })).to.equal(null);
    expect(await rowsOf(rows, 0, { boat: text, quay: text, paint: text })).to.equal(null);
    const longer = rows.map((row) => [...row, '12', '13']);
    expect(await rowsOf(longer, 0, { boat: text, length: number, toll: number })).to.equal(null);
  });
});

describe('fields and columns in one order', () => {
  /** All ways to place the fields, each column once and in order. */
  function ways(may: MayStand, columns: number, from = 0): number[][] {
    const [row, ...others] = may;
    if (row === undefined) return [[]];
    return Array.from({ length: Math.max(0, columns - from) }, (_, i) => from + i)
      .filter((column) => row[column] === true)
      .flatMap((column) => ways(others, columns, column + 1).map((rest) => [column, ...rest]));
  }

  it('give a field the column that it has in every way to place them all', () => {
    const size = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 6 }));
    const grids = size.chain(([fields, columns]) =>
      fc.tuple(
        fc.array(fc.array(fc.boolean(), { minLength: columns, maxLength: columns }), {
          minLength: fields,
          maxLength: fields,
        }),
        fc.constant(columns),
      ),
    );
    fc.assert(
      fc.property(grids, ([may, columns]) => {
        const all = ways(may, columns);
        const told = may.map((_, field) => {
          const own = new Set(all.map((way) => way[field]));
          return own.size === 1 ? [...own][0] : undefined;
        });
        expect(columnsInOrder(may, columns)).to.deep.equal(all.length === 0 ? undefined : told);
      }),
    );
  });
});
