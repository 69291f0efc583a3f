import { createRequire } from 'node:module';
import sharp, { type Sharp } from 'sharp';
import type { DocumentPage, DocumentWarning } from '../../document/document.ts';
import { deadlineWarnings, pagesOf } from '../../document/pages.ts';
import type { ParseFailure, ParseResult } from '../../ports/documentParser.ts';
import type { Rule } from '../../layout/content.ts';
import { layoutPages } from '../../layout/layoutPages.ts';
import { greyImage, type GreyImage } from '../../recognition/greyImage.ts';
import { isLate } from '../../recognition/allowance.ts';
import { recognitionOf } from '../../recognition/engines.ts';
import { recogniseImage, type RecogniseOptions } from '../../recognition/recogniseImage.ts';
import type { Format, Opener, SourceFile } from '../pieces/opened.ts';
import { pdfLines } from '../pdf/pdfLines.ts';

interface Decoded {
  readonly width: number;
  readonly height: number;
  /** RGBA. */
  readonly data: Uint8ClampedArray;
}

/** libnsbmp as WebAssembly: it reads every depth, palette, bit field and run length, top-down ones too. */
const { decode } = createRequire(import.meta.url)('@cwasm/nsbmp') as {
  readonly decode: (bytes: Uint8Array) => Decoded;
};

const CORE_HEADER_BYTES = 12;

interface BmpSize {
  readonly width: number;
  readonly height: number;
}

/** What the header says, before anything is unpacked. Throws when there is none. */
function bmpSize(bytes: Buffer): BmpSize {
  const headerBytes = bytes.readUInt32LE(14);
  const isCore = headerBytes === CORE_HEADER_BYTES;
  const width = isCore ? bytes.readUInt16LE(18) : bytes.readInt32LE(18);
  const height = Math.abs(isCore ? bytes.readUInt16LE(20) : bytes.readInt32LE(22));
  if (width <= 0 || height <= 0) throw new RangeError('a picture without pixels');
  return { width, height };
}

/** Runs of a picture end with a line's end and the picture's end; libnsbmp knows but the latter there. */
const LINE_AND_PICTURE_END = Buffer.from([0, 0, 0, 1]);
const PICTURE_END = LINE_AND_PICTURE_END.subarray(2);

function decoded(bytes: Buffer): Decoded {
  try {
    return decode(bytes);
  } catch (error) {
    const end = bytes.length - LINE_AND_PICTURE_END.length;
    if (!bytes.subarray(end).equals(LINE_AND_PICTURE_END)) throw error;
    return decode(Buffer.concat([bytes.subarray(0, end), PICTURE_END]));
  }
}

/** The pixels as RGB: what 32-bit pictures keep in their fourth byte is hardly ever a transparency. */
function bmpPixels(bytes: Buffer): BmpSize & { readonly rgb: Uint8Array } {
  const { width, height, data } = decoded(bytes);
  const rgb = new Uint8Array(width * height * 3);
  for (let from = 0, to = 0; to < rgb.length; from += 4, to += 3) {
    rgb[to] = data[from] ?? 0;
    rgb[to + 1] = data[from + 1] ?? 0;
    rgb[to + 2] = data[from + 2] ?? 0;
  }
  return { width, height, rgb };
}

/** Larger pictures are refused before they are unpacked. */
export const PIXELS_MAX = 100_000_000;
/** Pictures are brought to this many pixels on their longer side: fewer are too small to recognise well. */
const LONG_SIDE_MAX = 3500;
const LONG_SIDE_MIN = 2200;
const ENLARGED_MAX = 2.5;
/** After enlarging, letters are about as many pixels high as in a scan of this density. */
const SAID_DPI = 300;

/** The types of the picture formats. */
export const MIME: Readonly<Partial<Record<Format, string>>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  avif: 'image/avif',
};

/** Formats whose files may have several pictures; of others only the first is looked at. */
const MANY: ReadonlySet<Format> = new Set(['tiff', 'gif', 'webp']);
/** An animation of more pictures is a film, and its first picture stands for it. */
const ANIMATION_PICTURES_MAX = 100;

/** Opens pictures of one format. Each picture of a file is a page; of a film only the first is read. */
export const openImage =
  (format: Format): Opener =>
  async (file) => {
    try {
      const { frames, width, height } = await sizeOf(file.bytes, format);
      if (width * height > PIXELS_MAX) return tooLarge(width, height);
      const isFilm =
        format !== 'tiff' && (frames > ANIMATION_PICTURES_MAX || frames * width * height > PIXELS_MAX);
      const pages = pagesOf({ by: 'pages', pages: isFilm || !MANY.has(format) ? 1 : frames });
      const mimeType = MIME[format] ?? 'image/png';
      return {
        kind: 'open',
        mimeType,
        pages,
        read: (numbers) => read(file, { format, mimeType, numbers: numbers ?? allOf(pages) }),
      };
    } catch {
      return damaged;
    }
  };

const allOf = (pages: number): readonly number[] => Array.from({ length: pages }, (_, i) => i + 1);

interface Size {
  readonly frames: number;
  readonly width: number;
  readonly height: number;
}

async function sizeOf(bytes: Buffer, format: Format): Promise<Size> {
  if (format === 'bmp') return { frames: 1, ...bmpSize(bytes) };
  const { pages: frames = 1, width, height } = await imageOf(bytes, { format, limit: false }).metadata();
  return { frames, width, height };
}

const damaged: ParseFailure = { kind: 'unreadable', detail: 'The image is damaged and cannot be read.' };

const tooLarge = (width: number, height: number): ParseFailure => ({
  kind: 'unreadable',
  detail:
    `The image has ${width} x ${height} pixels; at most ${PIXELS_MAX / 1_000_000} million ` +
    'are read. Send it smaller.',
});

interface Wanted {
  readonly format: Format;
  readonly page?: number;
  /** Pixels to be unpacked at most; false where only the header is read. */
  readonly limit: number | false;
}

/** One picture of a file, not yet unpacked. Throws when the file is damaged. */
export function imageOf(bytes: Buffer, { format, page = 0, limit }: Wanted): Sharp {
  const options = { limitInputPixels: limit, failOn: 'error' } as const;
  if (format !== 'bmp') return sharp(bytes, MANY.has(format) ? { ...options, page } : options);
  const { width, height, rgb } = bmpPixels(bytes);
  return sharp(rgb, { ...options, raw: { width, height, channels: 3 } });
}

interface Opened {
  readonly format: Format;
  readonly mimeType: string;
  readonly numbers: readonly number[];
}

async function read(file: SourceFile, { format, mimeType, numbers }: Opened): Promise<ParseResult> {
  const all: DocumentPage[] = [];
  const left: number[] = [];
  const options = recognitionOf(file, numbers.length);
  for (const page of numbers) {
    const isLeft = await isLate(file.hurry);
    const read = isLeft ? leftPage(page) : await readPage(file.bytes, { format, page, options });
    all.push(read.page);
    if (read.isHurried) left.push(page);
  }
  if (all.every(({ status }) => status === 'failed')) return damaged;
  return {
    kind: 'ok',
    document: { mimeType, pages: all, warnings: [...deadlineWarnings(left), ...warningsOf(all)] },
  };
}

interface PageToRead {
  readonly format: Format;
  readonly page: number;
  readonly options: RecogniseOptions;
}

interface ReadPage {
  readonly page: DocumentPage;
  /** It was not looked at, or once only, for the time was nearly used up. */
  readonly isHurried: boolean;
}

const leftPage = (page: number): ReadPage => ({
  page: {
    page,
    source: 'ocr',
    width: null,
    height: null,
    lines: [],
    blocks: [],
    status: 'skipped',
    detail: 'The time was used up before the picture was read.',
  },
  isHurried: true,
});

/** Boxes are in pixels of the picture as sent (turned upright where it lay on its side). */
async function readPage(bytes: Buffer, { format, page, options }: PageToRead): Promise<ReadPage> {
  const base = { page, source: 'ocr', width: null, height: null, lines: [], blocks: [] } as const;
  let prepared: { readonly image: GreyImage; readonly scale: number };
  try {
    prepared = await prepare(imageOf(bytes, { format, page: page - 1, limit: PIXELS_MAX }));
  } catch {
    return { page: { ...base, status: 'failed', detail: 'The image is damaged.' }, isHurried: false };
  }
  const { image, scale } = prepared;
  const seen = await recogniseImage(image, options);
  const { isHurried } = seen;
  const words = seen.words.map((word) => {
    const [x0, y0, x1, y1] = word.box;
    return {
      ...word,
      size: word.size / scale,
      box: [x0 / scale, y0 / scale, x1 / scale, y1 / scale] as const,
    };
  });
  const rules = seen.rules.map(([x0, y0, x1, y1]): Rule => [x0 / scale, y0 / scale, x1 / scale, y1 / scale]);
  const size = { width: Math.round(seen.width / scale), height: Math.round(seen.height / scale) };
  const place = { ...base, ...size, rotation: seen.turned };
  if (words.length === 0)
    return { page: { ...place, status: 'empty', detail: 'The image shows no text.' }, isHurried };
  const [blocks = []] = layoutPages([{ ...size, words, rules, aside: [] }]);
  return { page: { ...place, status: 'ok', detail: null, lines: pdfLines(words), blocks }, isHurried };
}

/** Upright by its own mark, without transparency, grey, and of a size that can be recognised. */
async function prepare(image: Sharp): Promise<{ readonly image: GreyImage; readonly scale: number }> {
  const { width, height, autoOrient } = await image.metadata();
  const long = Math.max(width, height);
  const scale =
    long > LONG_SIDE_MAX
      ? LONG_SIDE_MAX / long
      : long < LONG_SIDE_MIN
        ? Math.min(ENLARGED_MAX, LONG_SIDE_MIN / long)
        : 1;
  const sized = image.autoOrient().resize({
    width: Math.max(1, Math.round(autoOrient.width * scale)),
    height: Math.max(1, Math.round(autoOrient.height * scale)),
    fit: 'fill',
    kernel: 'cubic',
  });
  return { image: await greyImage(sized, SAID_DPI), scale };
}

function warningsOf(pages: readonly DocumentPage[]): readonly DocumentWarning[] {
  const warnings: DocumentWarning[] = pages
    .filter(({ status }) => status === 'failed')
    .map(({ page, detail }) => ({
      code: 'page_failed',
      message: `Page ${page}: ${detail ?? 'it could not be read.'}`,
    }));
  if (pages.every(({ lines }) => lines.length === 0))
    warnings.push({ code: 'no_text_found', message: 'No text was found in the image.' });
  return warnings;
}
