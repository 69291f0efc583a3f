import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { csvRows } from '../../adapters/csvRows.ts';
import { holds } from '../../engine/test/support/properties.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';

const NAMES = ['one', 'two', 'three', 'four'];

const CHARACTERS = ['a', 'b', '1', ' ', '"', ',', ';', '\t', '|', '\n', '€', 'é', '😀'];

/** Cells of every kind that a CSV may have; a long one makes rows lie across the pieces that are read. */
const cell = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: fc.constantFrom(...CHARACTERS) }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 9_000 }).map((length) => 'é"\n,'.repeat(length / 4)) },
);

/** Spaces behind a quote say nothing. */
const quoted = (text: string, spaces: string): string => `"${text.replaceAll('"', '""')}"${spaces}`;
const isPlain = (text: string): boolean => /^[a-z0-9é€]+$/.test(text);

describe('the rows of a CSV file', () => {
  let folder: TempFolder;
  before(() => {
    folder = tempFolder();
  });
  after(() => folder.remove());

  const read = async (text: string): Promise<readonly (readonly string[])[]> => {
    const path = join(folder.path, 'rows.csv');
    writeFileSync(path, text);
    const all: (readonly string[])[] = [];
    for await (const some of csvRows(path, new AbortController().signal)) all.push(...some);
    return all;
  };

  holds(
    'are those that were written, whatever is in them and wherever the pieces end',
    fc.asyncProperty(
      fc.array(fc.array(cell, { minLength: 4, maxLength: 4 }), { maxLength: 30 }),
      fc.record({
        delimiter: fc.constantFrom(',', ';', '\t', '|'),
        end: fc.constantFrom('\n', '\r\n', '\r'),
        spaces: fc.constantFrom('', ' '.repeat(5_000)),
      }),
      async (rows, { delimiter, end, spaces }) => {
        const lines = [NAMES, ...rows].map((cells) =>
          cells.map((text) => (isPlain(text) ? text : quoted(text, spaces))).join(delimiter),
        );
        const text = `\uFEFF${lines.join('\n')}\n`.replaceAll('\n', end);
        expect(await read(text)).to.deep.equal([NAMES, ...rows]);
      },
    ),
  );

  it('have no empty ones among them', async () => {
    expect(await read('a,b\n\n1,2\n  \n\n3,4\n\n')).to.deep.equal([
      ['a', 'b'],
      ['1', '2'],
      ['3', '4'],
    ]);
  });
});
