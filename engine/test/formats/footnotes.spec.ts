import { expect } from 'chai';
import { openPdf } from '../../formats/pdf/readPdf.ts';
import { documentBy, markdownBy } from '../support/officeFiles.ts';
import { drawnPdf } from '../support/pdfs.ts';

/** A line of text with a small raised number in it. */
const marked = (y: number, [before, number, after]: readonly [string, string, string], size = 12): string =>
  `BT /F1 ${size} Tf 40 ${y} Td (${before}) Tj /F1 ${size * 0.6} Tf ${size * 0.35} Ts (${number}) Tj ` +
  `0 Ts /F1 ${size} Tf (${after}) Tj ET`;
const plain = (y: number, text: string, size = 12): string => `BT /F1 ${size} Tf 40 ${y} Td (${text}) Tj ET`;

const PAGE = [
  marked(700, ['We pay the sum', '1', ' by the third of May, and later by hand.']),
  plain(650, 'All else that was agreed on, by whomever it was, goes on as before.'),
  marked(90, ['', '1', 'Of all that is due.'], 9),
].join('\n');

describe('notes of a page of a PDF', () => {
  it('are footnotes behind the text of their page, with their marks in it', async () => {
    expect(await markdownBy(openPdf, drawnPdf(PAGE))).to.equal(
      'We pay the sum[^1] by the third of May, and later by hand.\n\n' +
        'All else that was agreed on, by whomever it was, goes on as before.\n\n[^1]: Of all that is due.\n',
    );
  });

  it('are not in the words that values are read from', async () => {
    const { pages } = await documentBy(openPdf, drawnPdf(PAGE));
    expect(pages[0]?.lines.map(({ text }) => text)).to.deep.equal([
      'We pay the sum by the third of May, and later by hand.',
      'All else that was agreed on, by whomever it was, goes on as before.',
      'Of all that is due.',
    ]);
  });

  it('have labels of their own where each page counts anew', async () => {
    const text = await markdownBy(openPdf, drawnPdf(PAGE, 2));
    expect(text).to.contain('sum[^1] by').and.contain('\n[^1]: Of').and.contain('sum[^1-2] by');
    expect(text).to.contain('\n[^1-2]: Of');
  });

  it('are none where a raised number has no note, as an exponent', async () => {
    const area = marked(700, ['The field of 400 m', '2', ' lies fallow.']);
    expect(await markdownBy(openPdf, drawnPdf(area))).to.equal('The field of 400 m2 lies fallow.\n');
  });
});
