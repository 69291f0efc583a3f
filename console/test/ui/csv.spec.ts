import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { csvOf, rowsIn, shellWord } from '../../src/ui/csv.ts';

const cellOf = (value: unknown): string => csvOf(['name'], [[value]]).slice('name\r\n'.length);

const counted = (csv: string): Promise<number> => rowsIn(new Blob([csv]));

describe('rows of a CSV', () => {
  it('are counted without the names, whether or not the last one ends', async () => {
    expect(await counted(csvOf(['name'], []))).to.equal(0);
    expect(await counted('name\r\n')).to.equal(0);
    expect(await counted('')).to.equal(0);
    expect(await counted(csvOf(['name'], [['a'], ['b']]))).to.equal(2);
    expect(await counted('\uFEFFname\r\na\r\nb\r\n')).to.equal(2);
  });

  it('are one each, however many lines and quotes a cell has', async () => {
    const cells = ['a\nb', '"', 'a ""\r\n', '\n', '', 'é"\n'];
    expect(
      await counted(
        csvOf(
          ['two\nlines'],
          [...cells, 'z'].map((cell) => [cell]),
        ),
      ),
    ).to.equal(7);
  });
});

describe('cells of a CSV', () => {
  for (const formula of [
    '-1+cmd|x',
    '-1',
    '-.5e3',
    '+1',
    '=1+1',
    '+49 30 1234',
    '-',
    '--1',
    '-1,5',
    '-0x1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '＝1+1',
    '-1\n=2',
  ])
    it(`are marked as text where a spreadsheet would run them: ${JSON.stringify(formula)}`, () => {
      const isNumber = ['-1', '-.5e3', '+1'].includes(formula);
      expect(cellOf(formula).replace(/^"/, '').startsWith("'")).to.equal(!isNumber);
    });

  it('are numbers and text as they were', () => {
    for (const plain of ['-12.50', '1e9', '+0.5', 'a-b', '', 'x=1']) expect(cellOf(plain)).to.equal(plain);
    for (const number of [-7, 0, 1.5]) expect(cellOf(number)).to.equal(String(number));
    expect(cellOf(null)).to.equal('');
    expect(cellOf('a,"b"')).to.equal('"a,""b"""');
  });

  it('of the heading are marked, too', () => {
    expect(csvOf(['=1+1', '-x'], [])).to.equal("'=1+1,'-x");
  });
});

describe('a line to copy into a shell', () => {
  for (const text of ["x'; touch /tmp/ran; '", '$(id)', '`id`', 'a b\\', '"', '!!', '*'])
    it(`has a payment's ID as one word, which runs nothing: ${text}`, () => {
      expect(execFileSync('/bin/sh', ['-c', `printf %s ${shellWord(text)}`]).toString()).to.equal(text);
    });
});
