import { expect } from 'chai';
import { openPdf } from '../../../formats/pdf/readPdf.ts';
import { levelBox, turnOfWord } from '../../../formats/pdf/turnedPages.ts';
import type { Document } from '../../../document/document.ts';
import { documentBy, markdownBy } from '../../support/officeFiles.ts';
import { drawnPdf, pdfOf, plainPdf } from '../../support/pdfs.ts';

const LINES = ['Invoice 4711 of the third of March', 'is to be paid within thirty days'];

/** Two lines drawn with the given turn of the text: `x y` is where the first begins, `step` how lines follow. */
const turned = (
  matrix: string,
  [x, y]: readonly [number, number],
  [dx, dy]: readonly [number, number],
): Buffer =>
  drawnPdf(
    LINES.map((line, i) => `BT /F1 14 Tf ${matrix} ${x + i * dx} ${y + i * dy} Tm (${line}) Tj ET`).join(
      '\n',
    ),
  );

const boxOf = (document: Document, word: string): readonly number[] =>
  document.pages[0]?.lines.flatMap(({ words }) => words).find(({ text }) => text === word)?.box ?? [];

describe('text of a PDF that does not lie level', () => {
  const pages: readonly (readonly [string, Buffer])[] = [
    ['to the right', turned('0 -1 1 0', [300, 700], [-20, 0])],
    ['to the left', turned('0 1 -1 0', [300, 100], [20, 0])],
    ['on its head', turned('-1 0 0 -1', [500, 400], [0, 20])],
  ];
  for (const [name, bytes] of pages)
    it(`is read when the page's text is turned ${name}`, async () => {
      expect(await markdownBy(openPdf, bytes)).to.equal(`${LINES.join(' ')}\n`);
    });

  it('has its places as the page is shown', async () => {
    const document = await documentBy(openPdf, turned('0 -1 1 0', [300, 700], [-20, 0]));
    expect(document.pages[0]).to.include({ width: 612, height: 792, status: 'ok' });
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = boxOf(document, 'Invoice');
    expect([x0 > 290 && x1 < 320, y0 > 85 && y0 < 95, y1 - y0 > x1 - x0]).to.deep.equal([true, true, true]);
    const [, below = 0] = boxOf(document, '4711');
    expect(below).to.be.greaterThan(y1);
  });

  it('follows the level text where there is more of that', async () => {
    const stamp = 'BT /F1 10 Tf 0 1 -1 0 20 100 Tm (stamp) Tj ET';
    const level = LINES.map((line, i) => `BT /F1 14 Tf 60 ${700 - 20 * i} Td (${line}) Tj ET`).join('\n');
    expect(await markdownBy(openPdf, drawnPdf(`${stamp}\n${level}`))).to.equal(
      `${LINES.join(' ')}\n\nstamp\n`,
    );
  });

  it('is told by the nearest quarter, within five degrees', () => {
    const turns = [0, 3, -3, 90.00001, 87, -90, 270, 180, -180, 45, 100].map((rotation) =>
      turnOfWord({ rotation }),
    );
    expect(turns).to.deep.equal([0, 0, 0, 90, 90, 270, 270, 180, 180, undefined, undefined]);
  });

  it('comes back to its place when turned there and back', () => {
    const size = { width: 612, height: 792 };
    for (const turn of [90, 180, 270] as const) {
      const box = [10, 20, 110, 40] as const;
      const level = levelBox(box, turn, size);
      const turnedSize = turn === 180 ? size : { width: size.height, height: size.width };
      expect(levelBox(level, ((360 - turn) % 360) as 90 | 180 | 270, turnedSize)).to.deep.equal(box);
    }
  });
});

describe('what viewers draw on a page of a PDF', () => {
  const page = (annotation: string, content = '', more: readonly string[] = []): Buffer =>
    pdfOf(
      [
        '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] /DA (/F1 10 ' +
          'Tf) /DR << /Font << /F1 3 0 R >> >> >> >>',
        '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
        '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Resources << /Font ' +
          '<< /F1 3 0 R >> >> /Contents 5 0 R /Annots [6 0 R] >>',
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
        `<< /Type /Annot /Rect [50 100 250 120] ${annotation} >>`,
        ...more,
      ],
      '',
    );
  const field = (value: string): string => `/Subtype /Widget /FT /Tx /T (name) /V (${value})`;

  it('is the value of a field that the page does not draw', async () => {
    const label = 'BT /F1 10 Tf 50 125 Td (Name) Tj ET';
    expect(await markdownBy(openPdf, page(field('Ann Ames'), label))).to.equal('Name\n\nAnn Ames\n');
    const document = await documentBy(openPdf, page(field('Ann Ames'), label));
    const [x0, y0, x1, y1] = boxOf(document, 'Ames');
    expect([x0! > 50, y0, x1! <= 250, y1]).to.deep.equal([true, 80, true, 100]);
  });

  it('is not said twice where the page draws it too', async () => {
    const drawn = 'BT /F1 10 Tf 52 105 Td (Ann Ames) Tj ET';
    expect(await markdownBy(openPdf, page(field('Ann Ames'), drawn))).to.equal('Ann Ames\n');
  });

  for (const [name, widget, mark] of [
    ['a box that is ticked', '/FT /Btn /T (paid) /V /Yes /AS /Yes', '☒'],
    ['a box that is not', '/FT /Btn /T (paid) /V /Off /AS /Off', '☐'],
    ['a button of a group', '/FT /Btn /Ff 32768 /T (how) /V /Yes /AS /Yes', '☒'],
  ] as const)
    it(`is ${name}`, async () => {
      const look = '/AP << /N << /Yes 7 0 R /Off 7 0 R >> >>';
      const bytes = page(
        `/Subtype /Widget ${widget} ${look}`,
        'BT /F1 10 Tf 80 106 Td (Paid in full) Tj ET',
        ['<< /Type /XObject /Subtype /Form /BBox [0 0 20 20] /Length 0 >>\nstream\n\nendstream'],
      );
      expect(await markdownBy(openPdf, bytes)).to.equal(`${mark} Paid in full\n`);
    });

  it('is a note that is written on the page', async () => {
    expect(
      await markdownBy(openPdf, page('/Subtype /FreeText /Contents (see below) /DA (/F1 10 Tf)')),
    ).to.equal('see below\n');
  });
});

it('words of a PDF that are drawn bold are marked', async () => {
  const text =
    'BT /F2 12 Tf 40 700 Td (To be paid) Tj /F1 12 Tf 90 0 Td (by the third of May, or when the goods come) Tj ET';
  expect(await markdownBy(openPdf, drawnPdf(text))).to.equal(
    '**To be paid** by the third of May, or when the goods come\n',
  );
});

it('a PDF is read though something stands before its header', async () => {
  const bytes = Buffer.concat([Buffer.from('@PJL SET COPIES = 1\n'), plainPdf(['hello'])]);
  expect(await markdownBy(openPdf, bytes)).to.equal('hello\n');
});
