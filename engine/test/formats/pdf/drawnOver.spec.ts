import { expect } from 'chai';
import { insideOf } from '../../../formats/pdf/inside/insideOf.ts';
import { openPdf } from '../../../formats/pdf/readPdf.ts';
import { documentBy, markdownBy } from '../../support/officeFiles.ts';
import { pdfOf } from '../../support/pdfs.ts';

const stream = (entries: string, content: string): string =>
  `<< ${entries} /Length ${content.length} >>\nstream\n${content}\nendstream`;
const FORM = '/Type /XObject /Subtype /Form /BBox [0 0 200 50]';
const SIGNED = 'BT /F1 10 Tf 5 30 Td (Digitally signed by Ann Ames) Tj ET';
const FONTS = '/Resources << /Font << /F1 5 0 R >> >>';

interface Signature {
  readonly flags?: number;
  readonly type?: string;
  readonly form?: string;
  readonly more?: readonly string[];
  readonly page?: string;
}

/** A page of one line, with a field over it whose appearance is object 7. */
const signed = ({
  flags = 4,
  type = '/Subtype /Stamp',
  form = stream(`${FORM} ${FONTS}`, SIGNED),
  more = [],
  page = '',
}: Signature = {}): Buffer => {
  const content = 'BT /F1 10 Tf 40 700 Td (We agree on all of it.) Tj ET';
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [6 0 R] ${page} ${FONTS} >>`,
      stream('', content),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      `<< /Type /Annot ${type} /F ${flags} /Rect [100 100 300 150] /AP << /N 7 0 R >> >>`,
      form,
      ...more,
    ],
    '',
  );
};

describe('what is drawn over the pages of a PDF', () => {
  it('is read where it is a stamp, at its place', async () => {
    const { pages } = await documentBy(openPdf, signed());
    expect(pages[0]?.lines.map(({ text }) => text)).to.deep.equal([
      'We agree on all of it.',
      'Digitally signed by Ann Ames',
    ]);
    const [x0 = 0, y0 = 0, , y1 = 0] = pages[0]?.lines[1]?.box ?? [];
    expect([x0, y0 > 650, y1 < 692]).to.deep.equal([105, true, true]);
  });

  it('is read through forms in forms, and of signatures', async () => {
    const text = 'We agree on all of it.\n\nDigitally signed by Ann Ames\n';
    const outer = stream(`${FORM} /Resources << /XObject << /X 8 0 R >> >>`, '/X Do');
    const more = [stream(`${FORM} ${FONTS}`, SIGNED)];
    expect(await markdownBy(openPdf, signed({ form: outer, more }))).to.equal(text);
    expect(
      await markdownBy(openPdf, signed({ type: '/Subtype /Widget /FT /Sig', form: outer, more })),
    ).to.equal(text);
    expect(await markdownBy(openPdf, signed({ type: '/Subtype /Widget /FT /Sig' }))).to.equal(text);
  });

  const unseen: readonly (readonly [string, Signature])[] = [
    ['is hidden', { flags: 2 }],
    ['is not for the screen', { flags: 32 }],
    ['has no ink', { form: stream(`${FORM} ${FONTS}`, SIGNED.replace('5 30 Td', '5 30 Td 3 Tr')) }],
    ['is damaged', { form: '<< >>' }],
    ['is of another kind', { type: '/Subtype /Link' }],
  ];
  for (const [name, signature] of unseen)
    it(`is left out where it ${name}`, async () => {
      expect(await markdownBy(openPdf, signed(signature))).to.equal('We agree on all of it.\n');
    });

  it('is no longer drawn where it draws itself', () => {
    const loop = stream(`${FORM} /Resources << /XObject << /X 7 0 R >> >>`, '/X Do /X Do');
    const over = insideOf(signed({ form: loop }))?.appearances([1]);
    expect(over?.bytes.toString('latin1')).to.contain('/X null');
  });

  it('comes to an end, however often a page is drawn over', async () => {
    const page = `/Annots [${'6 0 R '.repeat(50_000)}]`;
    const file = Buffer.from(signed().toString('latin1').replace('/Annots [6 0 R]', page), 'latin1');
    expect(await markdownBy(openPdf, file)).to.contain('We agree on all of it.');
  });
});
