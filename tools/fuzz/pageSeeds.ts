import sharp from 'sharp';
import { pagedPdf } from '../../engine/test/bench/pagedPdf.ts';
import { mappedCode, mappedPdf } from '../../engine/test/support/mappedPdfs.ts';
import { pictureOf } from '../../engine/test/support/pagePictures.ts';
import { drawnPdf, pdfOf, scannedPdf } from '../../engine/test/support/pdfs.ts';

/*
 * PDFs for what is told from the look of pages and from what lies beside them in the file. Nothing in them is
 * packed, so that a changed byte reaches the reader that is meant and not an unpacker.
 */

const at = ([x, y]: readonly [number, number], text: string, size = 10): string =>
  `BT /F1 ${size} Tf ${x} ${y} Td (${text}) Tj ET`;
const stream = (data: string): string => `<< /Length ${data.length} >>\nstream\n${data}\nendstream`;

/** A ruled table of a page: the header again, then rows with their numbers. */
const tablePage = (first: number): string => {
  const tops = Array.from({ length: 26 }, (_, i) => 720 - i * 24);
  const rules = [60, 200, 320, 440].map((x) => `${x} 120 m ${x} 744 l S`);
  const lines = tops.map((y) => `60 ${y + 24} m 440 ${y + 24} l S`);
  const rows = tops.map((y, i) => {
    const cells = i === 0 ? ['Item', 'Count', 'Price'] : [`pear ${first + i}`, String(i), `${i}.50`];
    return cells.map((cell, column) => at([[66, 206, 326][column] ?? 0, y + 6], cell)).join('\n');
  });
  return [...rules, ...lines, ...rows].join('\n');
};

/** Labels in one block, their values in the next, as forms print whose template is laid under them. */
const labelBlocks = (): string => {
  const labels = ['Order number', 'Date', 'Customer', 'Total', 'Place of delivery'];
  const values = ['O-17', '2026-02-03', 'Pear and Plum Ltd', '119.00', 'Hamburg'];
  const column = (texts: readonly string[], x: number): string =>
    texts.map((text, i) => at([x, 700 - 18 * i], text)).join('\n');
  const register = Array.from({ length: 12 }, (_, i) => [
    at([60, 520 - 16 * i], `Ames ${i}`),
    at([220, 520 - 16 * i], `${i + 1} pears`),
    at([380, 520 - 16 * i], `${i}.25`),
  ]);
  return [column(labels, 60), column(values, 300), ...register.flat()].join('\n');
};

const NOTE =
  'BT /F1 12 Tf 40 700 Td (We pay the sum) Tj /F1 7 Tf 4 Ts (1) Tj 0 Ts /F1 12 Tf ( by May.) Tj ET';
const NOTE_BELOW = 'BT /F1 5 Tf 40 90 Td 3 Ts (1) Tj 0 Ts /F1 9 Tf ( Of all that is due.) Tj ET';
const notes = (): string =>
  [NOTE, at([40, 650], 'All else goes on as before, by whomever it was.', 12), NOTE_BELOW].join('\n');

const SIGNS = ['山', '上', '古', '寺', '春', '人'];
const mapped = (draw: (sign: string, i: number) => readonly [number, number]): Buffer => {
  const signs = Array.from({ length: 60 }, (_, i) => SIGNS[i % SIGNS.length] ?? '');
  const drawn = signs.map((sign, i) => {
    const [x, y] = draw(sign, i);
    return `BT /F1 12 Tf 1 0 0 1 ${x} ${y} Tm <${mappedCode(SIGNS, sign)}> Tj ET`;
  });
  return mappedPdf(SIGNS, drawn.join('\n'));
};

/** Text whose font says other letters than it draws: each stands for the third before it. */
const garbled = (): string =>
  Array.from({ length: 12 }, (_, i) =>
    at([60, 700 - 30 * i], 'Wkh ohwwhuv ri wklv whaw duh vkliwhg wkuhh', 12),
  ).join('\n');

/** Fields of all kinds, a box that is ticked, and a parent whose child is itself. */
const boxes = (): Buffer => {
  const content = [at([50, 125], 'Name'), at([120, 76], 'paid'), at([50, 55], 'Country')].join('\n');
  const widget = (rect: string, rest: string): string =>
    `<< /Type /Annot /Subtype /Widget /Rect [${rect}] ${rest} >>`;
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R 8 0 R 9 0 R] /DA (/F1 10 Tf) >> >>',
      '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Resources << /Font << /F1 3 0 R >> >> ' +
        '/Contents 5 0 R /Annots [6 0 R 7 0 R 8 0 R] >>',
      stream(content),
      widget('50 100 250 120', '/FT /Tx /T (name) /TU (Name of the customer) /V (Ann Ames)'),
      widget('100 74 112 86', '/FT /Btn /T (paid) /V /Yes /AS /Yes /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>'),
      widget(
        '100 50 250 64',
        '/FT /Ch /T (country) /Ff 131072 /Opt [[(de) (Germany)] [(fr) (France)]] /V (de)',
      ),
      '<< /T (loop) /Kids [9 0 R 6 0 R] /Parent 9 0 R >>',
    ],
    '',
  );
};

/** Bookmarks that lead back to themselves and to each other. A tree of pages that does so ends PDFium. */
const circles = (): Buffer =>
  pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      stream([at([60, 700], '1.2 Orders', 18), at([60, 660], 'Order O-17 of 2026-02-03.')].join('\n')),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      '<< /Type /Outlines /First 7 0 R /Last 8 0 R /Count 2 >>',
      '<< /Title (1.2 Orders) /Parent 6 0 R /Next 8 0 R /First 9 0 R /Dest [3 0 R /Fit] >>',
      '<< /Title (Notes) /Parent 6 0 R /Prev 7 0 R /Next 7 0 R /First 7 0 R /A << /S /GoTo /D [3 0 R /Fit] >> >>',
      '<< /Title <feff004f> /Parent 7 0 R /Next 9 0 R /First 6 0 R /Dest (nowhere) >>',
    ],
    '',
  );

const layer = (text: string): string => `3 Tr\n${at([60, 700], text, 14)}\n${at([60, 676], text, 14)}`;

/** A scan whose layer says something else than its picture. */
const searchable = async (): Promise<Buffer> => {
  const drawn = await pictureOf(drawnPdf(at([60, 700], 'The sum of order O-17 is 119.00 in all', 14)), 100);
  const { data, info } = await sharp(drawn)
    .flatten({ background: '#fff' })
    .toColourspace('b-w')
    .jpeg()
    .toBuffer({ resolveWithObject: true });
  return scannedPdf({ jpeg: data, ...info }, layer('Nothing of this stands on the page that was scanned'));
};

/** One sound PDF for each thing that is read from the look of a page or beside its text. */
export const pageSeeds = async (): Promise<Readonly<Record<string, Uint8Array>>> => ({
  'continued.pdf': pagedPdf([tablePage(0), tablePage(25), tablePage(50)]),
  'boxes.pdf': boxes(),
  'columns.pdf': mapped((_, i) => [500 - 21 * Math.floor(i / 20), 700 - 12 * (i % 20)]),
  'garbled.pdf': drawnPdf(garbled()),
  'notes.pdf': drawnPdf(notes(), 2),
  'searchable.pdf': await searchable(),
  'labels.pdf': drawnPdf(labelBlocks()),
  'circles.pdf': circles(),
  'sideways.pdf': drawnPdf(
    ['Order O-17', 'Date 2026-02-03', 'Total 119.00']
      .map((text, i) => `BT /F1 12 Tf 0 1 -1 0 ${100 + 20 * i} 100 Tm (${text}) Tj ET`)
      .join('\n'),
  ),
});
