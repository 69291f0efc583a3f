import { expect } from 'chai';
import { partsOf, valueRows, type Part } from '../../src/document/values.ts';

const partsIn = (result: unknown): readonly Part[] =>
  partsOf(valueRows(result, undefined, { citations: [], errors: null }));

const tableIn = (parts: readonly Part[]) =>
  parts.flatMap((part) => (part.kind === 'table' ? [part.table] : []))[0];

const shapeOf = (parts: readonly Part[]): readonly string[] =>
  parts.map((part) => (part.kind === 'table' ? `table ${part.table.row.path}` : part.row.path));

describe('parts of the values', () => {
  it('make a table of a list of objects, with a column for each member that any of them has', () => {
    const parts = partsIn({
      no: 'X',
      items: [
        { a: 'b', n: 1.5 },
        { n: -2, c: null },
      ],
      last: 1,
    });
    expect(shapeOf(parts)).to.deep.equal(['/no', 'table /items', '/last']);
    const table = tableIn(parts);
    expect(table?.columns).to.deep.equal(['a', 'n', 'c']);
    expect([...(table?.numbers ?? [])]).to.deep.equal(['n', 'c']);
    expect(table?.lines.map(({ cells }) => cells.get('n')?.path)).to.deep.equal(['/items/0/n', '/items/1/n']);
    expect(table?.lines[0]?.cells.has('c')).to.equal(false);
  });

  it('leave lists of plain values, of objects within objects and of both line by line', () => {
    for (const list of [['a'], [{ a: { b: 1 } }], [{ a: 1 }, 'b'], [{}]]) {
      const parts = partsIn({ list });
      expect(
        parts.every(({ kind }) => kind === 'row'),
        JSON.stringify(list),
      ).to.equal(true);
      expect(parts[0]?.kind === 'row' && parts[0].row.path).to.equal('/list');
    }
  });

  it('find tables within objects and tables beside one another', () => {
    const parts = partsIn({ of: { one: [{ a: 1 }], two: [{ a: 2 }] } });
    expect(shapeOf(parts)).to.deep.equal(['/of', 'table /of/one', 'table /of/two']);
  });
});
