import { pdfOf } from '../../../../engine/test/support/pdfs.ts';

const stream = (dictionary: string, data: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`<< ${dictionary} /Length ${String(data.length)} >>\nstream\n`, 'latin1'),
    data,
    Buffer.from('\nendstream', 'latin1'),
  ]);

const onePage = (content: string, resources: string, more: readonly (string | Buffer)[]): Buffer =>
  pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << ${resources} >> >>`,
      stream('', Buffer.from(content, 'latin1')),
      ...more,
    ],
    '',
  );

/** A word of Japanese in a font that is not in the file, by a map of codes that is not in it either. */
export const japanesePdf = (): Buffer =>
  onePage('BT /F1 48 Tf 40 80 Td <8ACB6C4266F8> Tj ET', '/Font << /F1 5 0 R >>', [
    '<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /Encoding /UniJIS-UCS2-H /DescendantFonts [6 0 R] >>',
    '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light /FontDescriptor 7 0 R /DW 1000 ' +
      '/CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> >>',
    '<< /Type /FontDescriptor /FontName /Ryumin-Light /Flags 6 /FontBBox [0 -200 1000 900] /ItalicAngle 0 ' +
      '/Ascent 880 /Descent -120 /CapHeight 700 /StemV 80 >>',
  ]);

const whole = (...numbers: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [at, number] of numbers.entries()) bytes.writeUInt32BE(number, 4 * at);
  return bytes;
};

const SIDE = 8;

/** Bits of a black square in the code of fax machines: a black run, then the same line again, and the end. */
const BLACK_LINES = '001' + '00110101' + '000101' + '11'.repeat(SIDE - 1) + '000000000001'.repeat(2);

const bytesOf = (bits: string): Buffer =>
  Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => parseInt(byte.padEnd(8, '0'), 2)));

const segment = (number: number, type: number, data: Buffer): Buffer =>
  Buffer.concat([whole(number), Buffer.from([type, 0, 1]), whole(data.length), data]);

/** A black square as JBIG2, which browsers cannot decode by themselves. */
export const jbig2Pdf = (): Buffer => {
  const page = Buffer.concat([whole(SIDE, SIDE, 0, 0), Buffer.from([0, 0, 0])]);
  const region = Buffer.concat([whole(SIDE, SIDE, 0, 0), Buffer.from([0, 1]), bytesOf(BLACK_LINES)]);
  const picture = Buffer.concat([segment(0, 48, page), segment(1, 39, region)]);
  return onePage('q 100 0 0 100 150 50 cm /I Do Q', '/XObject << /I 5 0 R >>', [
    stream(
      `/Type /XObject /Subtype /Image /Width ${String(SIDE)} /Height ${String(SIDE)} /ColorSpace /DeviceGray ` +
        '/BitsPerComponent 1 /Filter /JBIG2Decode',
      picture,
    ),
  ]);
};

const short = (...numbers: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(2 * numbers.length);
  for (const [at, number] of numbers.entries()) bytes.writeUInt16BE(number, 2 * at);
  return bytes;
};

/**
 * A square of one grey as JPEG 2000: a tile without decomposition whose only packet is empty. Coefficients that are
 * not written are 0, which is the middle of the 8 bits.
 */
const greySquare = (): Buffer =>
  Buffer.concat([
    short(0xff4f, 0xff51, 41, 0),
    whole(SIDE, SIDE, 0, 0, SIDE, SIDE, 0, 0),
    short(1),
    Buffer.from([7, 1, 1]),
    short(0xff52, 12),
    Buffer.from([0, 0, 0, 1, 0, 0, 4, 4, 0, 1]),
    short(0xff5c, 4),
    Buffer.from([0x40, 0x40]),
    short(0xff90, 10, 0),
    whole(15),
    Buffer.from([0, 1]),
    short(0xff93),
    Buffer.from([0]),
    short(0xffd9),
  ]);

/** A grey square as JPEG 2000, which browsers cannot decode by themselves. */
export const jpeg2000Pdf = (): Buffer =>
  onePage('q 100 0 0 100 150 50 cm /I Do Q', '/XObject << /I 5 0 R >>', [
    stream(
      `/Type /XObject /Subtype /Image /Width ${String(SIDE)} /Height ${String(SIDE)} /ColorSpace /DeviceGray ` +
        '/BitsPerComponent 8 /Filter /JPXDecode',
      greySquare(),
    ),
  ]);
