import sharp, { type Sharp } from 'sharp';
import type { PagePicture, PicturesResult } from '../ports/documentTools.ts';
import type { ReceivedFile } from './pieces/received.ts';
import { isBlank } from '../recognition/drawnRules.ts';
import type { Format } from './pieces/opened.ts';
import { pdfFileOf } from './pdf/pdfFile.ts';
import { screenshotsOf } from './pdf/pictures.ts';
import type { OpenFile } from './readDocument.ts';
import { imageOf, MIME, PIXELS_MAX } from './images/openImage.ts';

/** Models scale larger pictures down themselves. */
const LONG_SIDE = 1600;
const QUALITY = 80;
/** All pictures of a document together; a page that needs more than its share is sent smaller. */
const BYTES_MAX = 48 * 1024 * 1024;
const SHARE_MIN = 150 * 1024;
const SMALLER = { longSide: 1000, quality: 50 };

/** The pages of a PDF or a picture as JPEGs, upright and on white; none for formats without pages to look at. */
export async function picturesOfFile(file: ReceivedFile, open: OpenFile): Promise<PicturesResult> {
  const opened = await open(file);
  if (opened.kind !== 'open') return opened;
  const { mimeType, pages: count, chosen } = opened;
  const numbers = chosen?.numbers ?? Array.from({ length: count }, (_, i) => i + 1);
  const sources = await sourcesOf(file, mimeType, numbers);
  const share = Math.max(SHARE_MIN, Math.floor(BYTES_MAX / count));
  const pages: PagePicture[] = [];
  for (const [page, image] of sources) {
    const picture = await pictureOf(image, share);
    if (picture !== undefined) pages.push({ page, ...picture });
  }
  if (sources.length > 0 && pages.length === 0)
    return { kind: 'unreadable', detail: 'No page of the file can be shown: it is damaged.' };
  return { kind: 'ok', mimeType, pages };
}

type Source = readonly [page: number, open: () => Sharp];

async function sourcesOf(
  { bytes, password }: ReceivedFile,
  mimeType: string,
  numbers: readonly number[],
): Promise<readonly Source[]> {
  if (mimeType === 'application/pdf') {
    const shots = await screenshotsOf(pdfFileOf(bytes, password), { numbers, longSide: LONG_SIDE });
    return [...shots].sort(([a], [b]) => a - b).map(([page, png]) => [page, () => sharp(png)]);
  }
  const format = (Object.keys(MIME) as Format[]).find((one) => MIME[one] === mimeType);
  if (format === undefined) return [];
  return numbers.map((number): Source => [
    number,
    () => imageOf(bytes, { format, page: number - 1, limit: PIXELS_MAX }),
  ]);
}

/** undefined when the page is damaged: the others are still shown. */
async function pictureOf(open: () => Sharp, share: number): Promise<Omit<PagePicture, 'page'> | undefined> {
  try {
    const bytes = await jpegOf(open(), { longSide: LONG_SIDE, quality: QUALITY });
    const fitting = bytes.length <= share ? bytes : await jpegOf(open(), SMALLER);
    return { mimeType: 'image/jpeg', bytes: new Uint8Array(fitting), blank: await isBlankPage(bytes) };
  } catch {
    return undefined;
  }
}

const jpegOf = (image: Sharp, { longSide, quality }: typeof SMALLER): Promise<Buffer> =>
  image
    .autoOrient()
    .flatten({ background: '#ffffff' })
    .resize({ width: longSide, height: longSide, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .jpeg({ quality })
    .toBuffer();

async function isBlankPage(jpeg: Buffer): Promise<boolean> {
  const { data, info } = await sharp(jpeg).greyscale().raw().toBuffer({ resolveWithObject: true });
  return isBlank({ data, width: info.width, height: info.height });
}
