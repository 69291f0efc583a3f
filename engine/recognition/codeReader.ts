import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ReadInputBarcodeFormat, ReadResult } from 'zxing-wasm/reader';
import type { CodeFormat } from '../document/codes.ts';
import type { Box } from '../document/document.ts';
import type { Pixels } from '../layout/content.ts';

/** A code as it was seen, with its box in pixels. */
export interface SeenCode {
  readonly format: CodeFormat;
  readonly text: string;
  readonly box: Box;
}

const FORMATS: Readonly<Partial<Record<ReadInputBarcodeFormat, CodeFormat>>> = {
  QRCode: 'qr_code',
  MicroQRCode: 'micro_qr_code',
  DataMatrix: 'data_matrix',
  PDF417: 'pdf417',
  Aztec: 'aztec',
  EAN8: 'ean_8',
  EAN13: 'ean_13',
  UPCA: 'upc_a',
  UPCE: 'upc_e',
  Code128: 'code_128',
};

/** Codes of one picture; the reader counts no further. */
export const CODES_MAX = 255;

type Read = (pixels: Pixels) => Promise<readonly ReadResult[]>;
let loaded: Promise<Read> | undefined;

/** Loaded once a process, when first asked for. The program comes from its package: left to itself it is fetched. */
async function load(): Promise<Read> {
  const { prepareZXingModule, readBarcodes } = await import('zxing-wasm/reader');
  const wasm = readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm'));
  const wasmBinary = new Uint8Array(wasm).buffer;
  await prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true });
  const formats = Object.keys(FORMATS) as ReadInputBarcodeFormat[];
  return ({ data, width, height }) => {
    const rgba = new Uint8ClampedArray(4 * width * height).fill(255);
    for (let from = 0, to = 0; from < width * height; from += 1, to += 4) {
      const grey = data[from] ?? 255;
      rgba[to] = grey;
      rgba[to + 1] = grey;
      rgba[to + 2] = grey;
    }
    return readBarcodes(
      { data: rgba, width, height, colorSpace: 'srgb' },
      { formats, maxNumberOfSymbols: CODES_MAX, textMode: 'Plain' },
    );
  };
}

const boxOf = ({ position: { topLeft, topRight, bottomRight, bottomLeft } }: ReadResult): Box => {
  const corners = [topLeft, topRight, bottomRight, bottomLeft];
  const [xs, ys] = [corners.map(({ x }) => x), corners.map(({ y }) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
};

/** The codes of a grey picture, from its top left on. */
export async function codesSeen(pixels: Pixels): Promise<readonly SeenCode[]> {
  const read = await (loaded ??= load());
  const found = await read(pixels);
  return found
    .flatMap((one): SeenCode[] => {
      const format = FORMATS[one.format as ReadInputBarcodeFormat];
      return format === undefined || !one.isValid || one.text === ''
        ? []
        : [{ format, text: one.text, box: boxOf(one) }];
    })
    .sort((a, b) => a.box[1] - b.box[1] || a.box[0] - b.box[0]);
}
