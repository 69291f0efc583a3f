import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import PDFDocument from 'pdfkit';
import type { Paper, PaperColumn } from '../domain/ports/services.ts';

/** Copied by the build from `pdfjs-dist`: Latin, Greek and Cyrillic letters. */
const FONTS = join(dirname(createRequire(import.meta.url).resolve('quire/package.json')), 'dist/fonts');
const fontFile = (name: string): Buffer => readFileSync(join(FONTS, `LiberationSans-${name}.ttf`));

/** All measures in points; the page is A4. */
const MARGIN = 48;
const WIDTH = 595.28 - 2 * MARGIN;
const BOTTOM = 841.89 - MARGIN;
const SIZE = 9;
const SMALL = 7.5;
/** Room between two columns, and above and below a row. */
const GAP = 8;
const PAD = 3;
const INK = '#1a1a1a';
const FAINT = '#666666';
const LINE = '#cccccc';

type Doc = PDFKit.PDFDocument;
type Font = 'regular' | 'bold';

interface Style {
  readonly font?: Font;
  readonly size?: number;
  readonly color?: string;
}

const styled = (doc: Doc, { font = 'regular', size = SIZE, color = INK }: Style): Doc =>
  doc.font(font).fontSize(size).fillColor(color);

const opened = (paper: Paper): Doc => {
  const at = new Date(paper.dated);
  const doc = new PDFDocument({
    size: 'A4',
    // Room below is kept for the foot, which is drawn when the number of pages is known.
    margins: { top: MARGIN, left: MARGIN, right: MARGIN, bottom: 0 },
    bufferPages: true,
    font: null as unknown as string,
    lang: 'en',
    info: { Title: `${paper.title} ${paper.number}`, Creator: 'Quire', CreationDate: at, ModDate: at },
  });
  doc.registerFont('regular', fontFile('Regular')).registerFont('bold', fontFile('Bold'));
  return doc;
};

/** The seller stands at the left of the foot, number and page at the right. */
const FOOT_WIDTH = WIDTH * 0.6;

/** Where the foot of each page begins. */
const footTop = (doc: Doc, { foot }: Paper): number => {
  styled(doc, { size: SMALL });
  const line = doc.heightOfString(' ') + 1;
  const lines = foot.map((text) => doc.heightOfString(text, { width: FOOT_WIDTH }) + 1);
  const height = lines.reduce((sum, one) => sum + one, 0);
  return BOTTOM - Math.max(height, 2 * line) - 2 * GAP;
};

/** Lines one below the other; gives where they end. */
const drawLines = (
  doc: Doc,
  lines: readonly string[],
  { x = MARGIN, y, width = WIDTH, ...style }: Style & { x?: number; y: number; width?: number },
): number => {
  let at = y;
  for (const line of lines) {
    styled(doc, style).text(line, x, at, { width });
    at += doc.heightOfString(line, { width }) + 1;
  }
  return at;
};

const FACTS_WIDTH = 250;
const NAME_WIDTH = 90;

/** Title, number, addressee and facts; gives where they end. */
const drawHead = (doc: Doc, { title, number, to, facts }: Paper): number => {
  const titled = drawLines(doc, [title], { y: MARGIN, font: 'bold', size: 18 });
  const top = drawLines(doc, [number], { y: titled + 2, color: FAINT }) + 2 * GAP;
  const [first, ...rest] = to;
  const width = WIDTH - FACTS_WIDTH - 2 * GAP;
  const named = drawLines(doc, first === undefined ? [] : [first], { y: top, width, font: 'bold' });
  const addressed = drawLines(doc, rest, { y: named, width });
  const x = MARGIN + WIDTH - FACTS_WIDTH;
  let at = top;
  for (const [name, value] of facts) {
    const style = { x: x + NAME_WIDTH, y: at, width: FACTS_WIDTH - NAME_WIDTH };
    drawLines(doc, [name], { x, y: at, width: NAME_WIDTH, color: FAINT });
    at = drawLines(doc, [value], style) + 1;
  }
  return Math.max(addressed, at) + 2 * GAP;
};

interface Placed extends PaperColumn {
  readonly x: number;
  readonly width: number;
}

const placed = (columns: readonly PaperColumn[]): readonly Placed[] => {
  const shares = columns.reduce((sum, { share }) => sum + share, 0);
  const room = WIDTH - GAP * (columns.length - 1);
  let x = MARGIN;
  return columns.map((column) => {
    const width = (room * column.share) / shares;
    const at = { ...column, x, width };
    x += width + GAP;
    return at;
  });
};

/** Draws a row where it has room; gives where it ends, or undefined where it has none. */
const drawRow = (
  doc: Doc,
  { columns, cells, y, end, ...style }: Style & RowPlace & { readonly y: number; readonly end: number },
): number | undefined => {
  styled(doc, style);
  const heights = columns.map(({ width }, at) => doc.heightOfString(cells[at] ?? '', { width }));
  const height = Math.max(...heights);
  if (y + height + 2 * PAD > end) return undefined;
  for (const [at, { x, width, isAmount = false }] of columns.entries())
    doc.text(cells[at] ?? '', x, y + PAD, { width, align: isAmount ? 'right' : 'left' });
  const below = y + height + 2 * PAD;
  doc
    .moveTo(MARGIN, below)
    .lineTo(MARGIN + WIDTH, below)
    .lineWidth(0.5)
    .strokeColor(LINE)
    .stroke();
  return below;
};
interface RowPlace {
  readonly columns: readonly Placed[];
  readonly cells: readonly string[];
}

/** The table, on as many pages as it needs, each with the names of the columns; gives where it ends. */
const drawTable = (doc: Doc, paper: Paper, y: number): number => {
  const columns = placed(paper.columns);
  const end = footTop(doc, paper);
  const titles = paper.columns.map(({ title }) => title);
  const head = (top: number): number =>
    drawRow(doc, { columns, cells: titles, y: top, end, font: 'bold', size: SMALL, color: FAINT }) ?? top;
  let at = head(y);
  for (const { cells, isStrong = false } of paper.rows) {
    const font = isStrong ? 'bold' : 'regular';
    let below = drawRow(doc, { columns, cells, y: at, end, font });
    if (below === undefined) {
      doc.addPage();
      at = head(MARGIN);
      below = drawRow(doc, { columns, cells, y: at, end: Infinity, font });
    }
    at = below ?? at;
  }
  return at;
};

const drawNotes = (doc: Doc, paper: Paper, y: number): void => {
  if (paper.notes.length === 0) return;
  styled(doc, { size: SMALL });
  const height = paper.notes.reduce((sum, note) => sum + doc.heightOfString(note, { width: WIDTH }) + 1, 0);
  const fits = y + 2 * GAP + height <= footTop(doc, paper);
  if (!fits) doc.addPage();
  drawLines(doc, paper.notes, { y: fits ? y + 2 * GAP : MARGIN, size: SMALL, color: FAINT });
};

/** At the foot of each page, once all are there. */
const drawFeet = (doc: Doc, paper: Paper): void => {
  const { start, count } = doc.bufferedPageRange();
  const top = footTop(doc, paper) + GAP;
  for (let page = start; page < start + count; page += 1) {
    doc.switchToPage(page);
    drawLines(doc, paper.foot, { y: top, width: FOOT_WIDTH, size: SMALL, color: FAINT });
    const place = `page ${String(page + 1)} of ${String(count)}`;
    const right = { x: MARGIN + FOOT_WIDTH + GAP, width: WIDTH - FOOT_WIDTH - GAP };
    styled(doc, { size: SMALL, color: FAINT });
    for (const [line, text] of [paper.number, place].entries()) {
      const y = top + line * (doc.heightOfString(' ') + 1);
      doc.text(text, right.x, y, { width: right.width, height: SMALL, align: 'right', ellipsis: true });
    }
  }
};

/** A paper as a PDF file. The same paper gives the same bytes: the file bears no time and no ID but the paper's. */
export const drawnPaper = (paper: Paper): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const doc = opened(paper);
    const parts: Buffer[] = [];
    doc.on('data', (part: Buffer) => void parts.push(part));
    doc.on('error', reject);
    doc.on('end', () => resolve(new Uint8Array(Buffer.concat(parts))));
    drawNotes(doc, paper, drawTable(doc, paper, drawHead(doc, paper)));
    drawFeet(doc, paper);
    doc.end();
  });
