import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import PDFDocument from 'pdfkit';
import { prepareZXingModule, writeBarcode, type WriteInputBarcodeFormat } from 'zxing-wasm/writer';
import { once } from '../../kernel/once.ts';

/** Its program comes from the package: left to itself it is fetched. */
const prepared = once(async (_: typeof writeBarcode): Promise<void> => {
  const wasm = readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/writer/zxing_writer.wasm'));
  const overrides = { wasmBinary: new Uint8Array(wasm).buffer };
  await prepareZXingModule({ overrides, fireImmediately: true });
});

/** A code as a PNG, of so many pixels a module. */
export const codePng = async (text: string, format: WriteInputBarcodeFormat, scale = 6): Promise<Buffer> => {
  await prepared(writeBarcode);
  const { image, error } = await writeBarcode(text, { format, scale });
  if (image === null) throw new Error(error);
  return Buffer.from(await image.arrayBuffer());
};

/** A page of A4 with a text at its top, and a code of 120 points at (100, 500). */
export const pdfWithCode = (png: Buffer, text: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const pdf = new PDFDocument({ size: 'A4' });
    const pieces: Buffer[] = [];
    pdf.on('data', (piece: Buffer) => pieces.push(piece));
    pdf.on('end', () => resolve(Buffer.concat(pieces)));
    pdf.on('error', reject);
    pdf.fontSize(11).text(text, 72, 72);
    pdf.image(png, 100, 500, { width: 120 });
    pdf.end();
  });
