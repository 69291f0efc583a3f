import { deflateRawSync } from 'node:zlib';
import { utils, write } from '@e965/xlsx';
import { expect } from 'chai';
import fc from 'fast-check';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { readTableFile } from '../../formats/tableFile.ts';
import type { TableLimits } from '../../ports/documentTools.ts';

const LIMITS: TableLimits = { rows: 20, columns: 5, cell_characters: 50, row_characters: 100, bytes: 2_000 };

const read = (bytes: Uint8Array | string, fileName = 'a.csv', limits: Partial<TableLimits> = {}) =>
  readTableFile({ bytes: Buffer.from(bytes), fileName }, { ...LIMITS, ...limits });

const rowsOf = async (...asked: Parameters<typeof read>): Promise<unknown> => {
  const table = await read(...asked);
  if (table.kind !== 'table') return table;
  const lines = Buffer.from(table.lines).toString().trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown);
};

const xlsx = (rows: readonly (readonly unknown[])[]): Uint8Array => {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet([['']]), 'Empty');
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows.map((row) => [...row])), 'Vendors');
  return write(book, { type: 'buffer', bookType: 'xlsx' }) as Uint8Array;
};

describe('tables of master data', () => {
  it('are read from CSV as it is written anywhere', async () => {
    const expected = [
      ['number', 'name'],
      ['1', 'Müller, Köln'],
      ['2', 'two\nlines'],
      ['3', ''],
    ];
    const text = 'number;name\n\n1;"Müller, Köln"\n2;"two\nlines"\n;\n3;\n';
    expect(await rowsOf(text)).to.deep.equal(expected);
    expect(await rowsOf(`\uFEFF${text}`)).to.deep.equal(expected);
    expect(await rowsOf(text.replaceAll(';', '\t'), 'a.tsv')).to.deep.equal(expected);
    expect(await rowsOf(Buffer.from(text, 'latin1'))).to.deep.equal(expected);
    expect(await rowsOf('name\nAcme, Inc.\nGlobex\n')).to.deep.equal([['name'], ['Acme, Inc.'], ['Globex']]);
  });

  it('are read from the first sheet of a workbook that shows anything', async () => {
    expect(await rowsOf(xlsx([['number', 'name'], [7, 'Bond'], [], ['007', null]]), 'a.xlsx')).to.deep.equal([
      ['number', 'name'],
      ['7', 'Bond'],
      ['007', ''],
    ]);
  });

  const texts = fc
    .string({ unit: fc.constantFrom('a', 'ß', '"', ',', ';', '\n', ' ', '=', '7'), maxLength: 10 })
    .map((text) => text.trim().replaceAll('\n', ' '));

  it('keep every cell as it is, and have the same digest each time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(texts, texts), { minLength: 1, maxLength: 20 }), async (rows) => {
        const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
        const lines = [['one', 'two'], ...rows].map((row) => row.map(quoted).join(','));
        const filled = rows.filter((row) => row.some((cell) => cell !== ''));
        const table = await read(`${lines.join('\n')}\n`);
        if (filled.length === 0) {
          expect(table.kind).to.equal('no_table');
          return;
        }
        expect(await rowsOf(`${lines.join('\n')}\n`)).to.deep.equal([['one', 'two'], ...filled]);
        expect(await read(`${lines.join('\n')}\n`)).to.deep.equal(table);
      }),
    );
  });

  it('are refused with the first thing that is too much', async () => {
    for (const [text, limit] of [
      [`a\n${'1\n'.repeat(21)}`, 'rows'],
      ['a,b,c,d,e,f\n', 'columns'],
      [`a\n${'x'.repeat(51)}\n`, 'cell_characters'],
      [`a,b,c\n${'x'.repeat(40)},${'x'.repeat(40)},${'x'.repeat(40)}\n`, 'row_characters'],
      [`a,b\n${`${'ß'.repeat(45)},${'ß'.repeat(45)}\n`.repeat(19)}`, 'bytes'],
    ] as const) {
      const max = LIMITS[limit];
      expect(await read(text), limit).to.deep.include({ kind: 'beyond_limits', limit, max });
    }
    expect(await read(`a\n${'1\n'.repeat(20)}`)).to.include({ kind: 'table', rows: 20 });
  });

  it('are refused where they are no table', async () => {
    for (const text of ['a,,b\n1,2,3\n', 'a,a\n1,2\n', 'a,b\n', 'a,b\n1,2,3\n', ' \n"";\n'])
      expect((await read(text)).kind, text).to.be.oneOf(['no_table', 'empty']);
    expect(await read('')).to.include({ kind: 'empty' });
    expect(await read('%PDF-1.7')).to.include({ kind: 'unsupported' });
    expect(await read('PK\u0003\u0004 no archive', 'a.xlsx'))
      .to.have.property('kind')
      .that.is.oneOf(['unreadable', 'unsupported']);
  });

  it('are not read out of a workbook that grows beyond what is read', async () => {
    const parts = unzipSync(xlsx([['a'], ['b']]));
    const bomb = strToU8(`<worksheet>${' '.repeat(20_000_000)}</worksheet>`);
    const sheets = Object.keys(parts).filter((name) => name.includes('worksheets/'));
    const grown = { ...parts, ...Object.fromEntries(sheets.map((name) => [name, bomb])) };
    expect(deflateRawSync(bomb).length).to.be.below(100_000);
    const table = await read(zipSync(grown, { level: 9 }), 'a.xlsx');
    expect(table.kind).to.be.oneOf(['unreadable', 'no_table']);
  });
});
