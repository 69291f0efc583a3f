import { expect } from 'chai';
import { openPdf } from '../../../formats/pdf/readPdf.ts';
import { markdownBy } from '../../support/officeFiles.ts';
import { drawnPdf, pdfOf } from '../../support/pdfs.ts';

const LINE = 'The bill of May is to be paid for by the firm';

/** A page of one line in a font that is not in the file, of which only the widths are. */
function narrowPdf(space: number, others: number): Buffer {
  const widths = Array.from({ length: 95 }, (_, index) => (index === 0 ? space : others)).join(' ');
  const content = `BT /F1 12 Tf 40 700 Td (${LINE}) Tj ET`;
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      '<< /Type /Font /Subtype /TrueType /BaseFont /Unknown /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 126 ' +
        `/Widths [${widths}] >>`,
    ],
    '',
  );
}

describe('words of a PDF with a space between them', () => {
  for (const [space, others] of [
    [228, 456],
    [180, 350],
    [100, 400],
  ] as const)
    it(`stay apart where letters are drawn wider than the file says: ${space} to ${others}`, async () => {
      expect(await markdownBy(openPdf, narrowPdf(space, others))).to.equal(`${LINE}\n`);
    });

  it('stay apart where the space is drawn narrow', async () => {
    expect(await markdownBy(openPdf, drawnPdf(`BT /F1 12 Tf -2.5 Tw 40 700 Td (${LINE}) Tj ET`))).to.equal(
      `${LINE}\n`,
    );
  });

  it('are one where the drawing only changes its font within them', async () => {
    const drawn = 'BT /F1 12 Tf 40 700 Td (half) Tj /F2 12 Tf (way) Tj ET';
    expect(await markdownBy(openPdf, drawnPdf(drawn))).to.equal('halfway\n');
  });
});
