import sharp, { type Sharp } from 'sharp';
import type { Code } from '../../document/codes.ts';
import type { Box, Document, DocumentPage } from '../../document/document.ts';
import { codesSeen } from '../../recognition/codeReader.ts';
import { imageOf, MIME, PIXELS_MAX } from '../images/openImage.ts';
import { pdfFileOf } from '../pdf/pdfFile.ts';
import { screenshotsOf } from '../pdf/pictures.ts';
import type { Format } from '../pieces/opened.ts';
import type { ReceivedFile } from '../pieces/received.ts';
import { zonesOn } from './mrz.ts';

/** About 210 dots an inch of a page of A4: the smallest codes that are printed have four of them a module. */
const LONG_SIDE = 2_480;
/** Pages that are drawn at once, so that their pictures never fill the memory. */
const BATCH = 4;

/** A box in parts of the picture's sides, of a page that was turned clockwise before boxes were measured. */
function turned([x0, y0, x1, y1]: Box, rotation: DocumentPage['rotation']): Box {
  switch (rotation) {
    case 90:
      return [1 - y1, x0, 1 - y0, x1];
    case 180:
      return [1 - x1, 1 - y1, 1 - x0, 1 - y0];
    case 270:
      return [y0, 1 - x1, y1, 1 - x0];
    default:
      return [x0, y0, x1, y1];
  }
}

const hundredths = (value: number): number => Math.round(100 * value) / 100;

/** A page that nothing was read of has no size: its codes have no box. */
function boxOn({ width, height, rotation }: DocumentPage, box: Box): Box | null {
  if (width === null || height === null) return null;
  const [x0, y0, x1, y1] = turned(box, rotation);
  return [hundredths(x0 * width), hundredths(y0 * height), hundredths(x1 * width), hundredths(y1 * height)];
}

async function codesOn(page: DocumentPage, image: Sharp): Promise<readonly Code[]> {
  const { data, info } = await image
    .autoOrient()
    .flatten({ background: '#ffffff' })
    .resize({ width: LONG_SIDE, height: LONG_SIDE, fit: 'inside', withoutEnlargement: true })
    .greyscale()
    .extractChannel(0)
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const found = await codesSeen({ data, width, height });
  return found.map(({ format, text, box: [x0, y0, x1, y1] }) => ({
    format,
    text,
    page: page.page,
    box: boxOn(page, [x0 / width, y0 / height, x1 / width, y1 / height]),
  }));
}

/** The picture of a page is opened when it is looked at: what cannot be opened throws there. */
type Picture = readonly [page: DocumentPage, image: () => Sharp];

async function* drawnPages(
  file: ReceivedFile,
  pages: readonly DocumentPage[],
  isLate: () => boolean,
): AsyncGenerator<Picture> {
  const pdf = pdfFileOf(file.bytes, file.password);
  for (let at = 0; at < pages.length && !isLate(); at += BATCH) {
    const batch = pages.slice(at, at + BATCH);
    const numbers = batch.map(({ page }) => page);
    const shots = await screenshotsOf(pdf, { numbers, longSide: LONG_SIDE }).catch(() => undefined);
    for (const page of batch) {
      const png = shots?.get(page.page);
      if (png !== undefined) yield [page, () => sharp(png)];
    }
  }
}

async function* picturesOf(
  file: ReceivedFile,
  { mimeType, pages }: Document,
  isLate: () => boolean,
): AsyncGenerator<Picture> {
  if (mimeType === 'application/pdf') {
    yield* drawnPages(file, pages, isLate);
    return;
  }
  const format = (Object.keys(MIME) as Format[]).find((one) => MIME[one] === mimeType);
  if (format === undefined) return;
  for (const page of pages)
    yield [page, () => imageOf(file.bytes, { format, page: page.page - 1, limit: PIXELS_MAX })];
}

/** What codes were found, and the pages that were not looked at. */
export interface CodesFound {
  readonly codes: readonly Code[];
  readonly left: readonly number[];
}

/**
 * The codes on the pages of a PDF or a picture, and the zones for machines among the lines of any document. A page
 * that cannot be drawn, or that there is no time for, costs itself only.
 */
export async function codesOfFile(
  file: ReceivedFile,
  document: Document,
  isLate: () => boolean,
): Promise<CodesFound> {
  const codes: Code[] = document.pages.flatMap(zonesOn);
  const looked = new Set<number>();
  for await (const [page, image] of picturesOf(file, document, isLate)) {
    if (isLate()) break;
    try {
      codes.push(...(await codesOn(page, image())));
      looked.add(page.page);
    } catch {
      // It is told as a page that was left.
    }
  }
  const hasPictures = document.mimeType === 'application/pdf' || document.mimeType.startsWith('image/');
  const left = hasPictures ? document.pages.map(({ page }) => page).filter((page) => !looked.has(page)) : [];
  return { codes: codes.sort((a, b) => a.page - b.page), left };
}
