import { expect } from 'chai';
import { openPdf } from '../../../formats/pdf/readPdf.ts';
import { markdownBy } from '../../support/officeFiles.ts';
import { mappedCode, mappedPdf } from '../../support/mappedPdfs.ts';

/** Each word by its glyphs, from the right; `+` is the glyph of lam and alef. */
const WORDS = [['ا', '+', 'س', 'م'], ['+'], ['إ', '+'], ['و', '+'], ['ك', 'ت', 'ا', 'ب']];
const READ = 'الاسم لا إلا ولا كتاب';

/** The words as they are drawn, from left to right. */
function linePdf(ligature: string): Buffer {
  const words = WORDS.map((word) => word.map((glyph) => (glyph === '+' ? ligature : glyph)));
  const glyphs = [...new Set([...words.flat(), ' '])];
  const drawn = words.flatMap((word, i) => (i === 0 ? word : [' ', ...word])).reverse();
  const codes = drawn.map((glyph) => mappedCode(glyphs, glyph)).join('');
  return mappedPdf(glyphs, `BT /F1 12 Tf 40 700 Td <${codes}> Tj ET`);
}

describe('ligatures of lam and alef in a PDF', () => {
  it('are read in their order where one glyph means two letters', async () => {
    expect(await markdownBy(openPdf, linePdf('لا'))).to.equal(`${READ}\n`);
  });

  it('are read as letters where they are presentation forms', async () => {
    expect(await markdownBy(openPdf, linePdf('\ufefb'))).to.equal(`${READ}\n`);
  });
});
