import { expect } from 'chai';
import { openPdf } from '../../../formats/pdf/readPdf.ts';
import { documentBy, markdownBy } from '../../support/officeFiles.ts';
import { mappedCode, mappedPdf } from '../../support/mappedPdfs.ts';

type Sign = readonly [sign: string, x: number, y: number];

/** A page on which each sign, twelve points high and wide, is drawn by itself. */
function signsPdf(signs: readonly Sign[]): Buffer {
  const letters = [...new Set(signs.map(([sign]) => sign))];
  const content = signs.map(
    ([sign, x, y]) => `BT /F1 12 Tf 1 0 0 1 ${x} ${800 - y} Tm <${mappedCode(letters, sign)}> Tj ET`,
  );
  return mappedPdf(letters, content.join('\n'));
}

const COLUMNS = ['山の上に古い寺があり', '長い石の道が続いて', '春には人が集まる。'];

/** The first text in the column on the right. */
const columns = (texts: readonly string[], [across, down]: readonly [number, number]): readonly Sign[] =>
  texts.flatMap((text, i) =>
    Array.from(text, (sign, j) => [sign, 500 - i * across, 100 + j * down] as const),
  );
const rows = (texts: readonly string[], [across, down]: readonly [number, number]): readonly Sign[] =>
  texts.flatMap((text, i) =>
    Array.from(text, (sign, j) => [sign, 100 + j * across, 100 + i * down] as const),
  );

describe('text in columns of signs', () => {
  it('reads each column downwards, and the columns from right to left', async () => {
    const bytes = signsPdf(columns(COLUMNS, [21, 12]));
    expect(await markdownBy(openPdf, bytes)).to.equal(`${COLUMNS.join('')}\n`);
    const { pages } = await documentBy(openPdf, bytes);
    expect(pages[0]?.lines.map(({ text }) => text)).to.deep.equal(COLUMNS);
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = pages[0]?.lines[0]?.box ?? [];
    expect(x0).to.be.within(490, 502);
    expect(x1).to.be.within(502, 515);
    expect(y1 - y0).to.be.within(110, 125);
  });

  it('reads one column of some length', async () => {
    const bytes = signsPdf(columns(COLUMNS.slice(0, 1), [21, 12]));
    expect(await markdownBy(openPdf, bytes)).to.equal(`${COLUMNS[0]}\n`);
  });

  it('leaves level text of single signs, spaced or not, and cells of one sign as they stand', async () => {
    for (const steps of [
      [12, 18],
      [14, 16],
      [16, 16],
    ] as const) {
      const read = await markdownBy(openPdf, signsPdf(rows(COLUMNS, steps)));
      expect(read.replace(/\s/g, '')).to.equal(COLUMNS.join(''));
    }
    const cells = await markdownBy(openPdf, signsPdf(rows(['男女子', '一二三', '上中下'], [80, 24])));
    expect(cells.replace(/[\s|-]/g, '')).to.equal('男女子一二三上中下');
  });
});
