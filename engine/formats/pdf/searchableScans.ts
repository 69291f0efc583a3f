import type { ParsedPage } from '../../recognition/liteparse.ts';
import sharp from 'sharp';
import type { Box } from '../../document/document.ts';
import type { PlacedWord } from '../../layout/content.ts';
import { greyImage } from '../../recognition/greyImage.ts';
import { recogniseImage, type RecogniseOptions } from '../../recognition/recogniseImage.ts';
import type { PdfFile } from './pdfFile.ts';
import { renderPages } from './pictures.ts';

/** What the layer of a scan is worth, as it is said of its page. */
export const LAYER_AGREES = 'The text layer of a scan: a sample of the picture agrees with it.';
export const LAYER_REFUSED =
  'The text layer of the scan does not agree with its picture, which was recognised.';
export const LAYER_UNTRIED = 'The text layer of a scan, which this mode does not hold against its picture.';

/** Of a page's height: what is recognised to hold a text layer against it. */
const SAMPLE_HEIGHT = 1 / 6;
const SAMPLE_DPI = 150;
/** Recognised words that are surely so, and long enough to be told from others. */
const SURE = 0.6;
const LETTERS_MIN = 3;
/** Fewer words of the picture say nothing. */
const WORDS_MIN = 4;
/** So many of the sample's words must stand in the layer; two engines agree on more of a page they can read. */
const AGREEMENT_MIN = 0.6;

interface Layer {
  readonly page: ParsedPage;
  readonly words: readonly PlacedWord[];
}

/** Whether the text layer of a scan says what its picture shows, by the part of the page with the most words. */
export async function layerAgrees(
  pdf: PdfFile,
  { page, words }: Layer,
  options: RecogniseOptions,
): Promise<boolean> {
  try {
    const png = (await renderPages(pdf, [page], SAMPLE_DPI)).get(page.pageNum);
    if (png === undefined) return true;
    const { width, height } = await sharp(png).metadata();
    const top = Math.floor(densestBand(words, page.height) * height);
    const part = { left: 0, top, width, height: Math.min(height - top, Math.ceil(SAMPLE_HEIGHT * height)) };
    const image = await greyImage(sharp(png).extract(part), SAMPLE_DPI);
    const seen = await recogniseImage(image, { ...options, thorough: false, secondLook: false, both: false });
    const scale = width / page.width;
    const placed = seen.words.map(({ box, ...word }) => ({ ...word, box: onPage(box, top, scale) }));
    return agree(words, placed);
  } catch {
    return true;
  }
}

const onPage = ([x0, y0, x1, y1]: Box, top: number, scale: number): Box => [
  x0 / scale,
  (y0 + top) / scale,
  x1 / scale,
  (y1 + top) / scale,
];

/** Where the sixth of a page begins that has the most letters, as a share of its height. */
function densestBand(words: readonly PlacedWord[], height: number): number {
  const steps = Array.from({ length: 12 }, () => 0);
  for (const { text, box } of words) {
    const step = Math.min(11, Math.max(0, Math.floor((12 * (box[1] + box[3])) / 2 / Math.max(1, height))));
    steps[step] = (steps[step] ?? 0) + text.length;
  }
  const sums = steps.slice(0, -1).map((letters, i) => letters + (steps[i + 1] ?? 0));
  return sums.indexOf(Math.max(...sums)) / 12;
}

/** Whether what was seen on the picture stands in the layer, too, at the same places. */
export function agree(layer: readonly PlacedWord[], seen: readonly PlacedWord[]): boolean {
  const sample = seen.filter(
    ({ text, confidence }) => confidence > SURE && letters(text).length >= LETTERS_MIN,
  );
  if (sample.length < WORDS_MIN) return true;
  const rows = byHeight(layer);
  const found = sample.filter((word) => near(rows, word.box).some((other) => saysTheSame(other, word)));
  return found.length >= AGREEMENT_MIN * sample.length;
}

const letters = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/** One word may be cut otherwise in the layer than in what was recognised. */
const saysTheSame = (other: PlacedWord, word: PlacedWord): boolean => {
  const [a, b] = [letters(other.text), letters(word.text)];
  return a.length > 1 && overlap(other.box, word.box) && (a.includes(b) || b.includes(a));
};

const overlap = (a: Box, b: Box): boolean => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/** Points. */
const ROW = 20;
const LOOKED_AT_MAX = 500;

function byHeight(words: readonly PlacedWord[]): ReadonlyMap<number, readonly PlacedWord[]> {
  const rows = new Map<number, PlacedWord[]>();
  for (const word of words) {
    const row = Math.floor((word.box[1] + word.box[3]) / 2 / ROW);
    const known = rows.get(row);
    if (known === undefined) rows.set(row, [word]);
    else if (known.length < LOOKED_AT_MAX) known.push(word);
  }
  return rows;
}

function near(rows: ReadonlyMap<number, readonly PlacedWord[]>, box: Box): readonly PlacedWord[] {
  const row = Math.floor((box[1] + box[3]) / 2 / ROW);
  return [row - 1, row, row + 1].flatMap((at) => rows.get(at) ?? []);
}
