import { createHash } from 'node:crypto';

const text = (value: string): Buffer => Buffer.from(value, 'latin1');

/** A PDF file of numbered objects, with its cross-reference table. */
export function pdfOf(objects: readonly (string | Buffer)[], trailer: string): Buffer {
  const parts: Buffer[] = [text('%PDF-1.4\n')];
  const offsets: number[] = [];
  let length = parts[0]!.length;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const [i, body] of objects.entries()) {
    offsets.push(length);
    add(
      Buffer.concat([
        text(`${i + 1} 0 obj\n`),
        typeof body === 'string' ? text(body) : body,
        text('\nendobj\n'),
      ]),
    );
  }
  const start = length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  add(text(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`));
  add(
    text(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`),
  );
  return Buffer.concat(parts);
}

/** What is done to the contents of a page, by the number of their object. */
type Cipher = (content: string, object: number) => string;

/** Pages with one line of text each. */
export function plainPdf(
  lines: readonly string[],
  trailer = '',
  { more = [], cipher = (content) => content }: { more?: readonly string[]; cipher?: Cipher } = {},
): Buffer {
  const kids = lines.map((_, i) => `${4 + 2 * i} 0 R`).join(' ');
  const pages = lines.flatMap((line, i) => {
    const content = cipher(`BT /F1 12 Tf 40 100 Td (${line}) Tj ET`, 5 + 2 * i);
    return [
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Resources << /Font << /F1 3 0 R >>' +
        ` >> /Contents ${5 + 2 * i} 0 R >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ];
  });
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Kids [${kids}] /Count ${lines.length} >>`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      ...pages,
      ...more,
    ],
    trailer,
  );
}

const PADDING = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex');
const md5 = (...parts: readonly Buffer[]): Buffer => createHash('md5').update(Buffer.concat(parts)).digest();
const padded = (password: string): Buffer => Buffer.concat([text(password), PADDING]).subarray(0, 32);

function rc4(key: Buffer, data: Buffer): Buffer {
  const s = Array.from({ length: 256 }, (_, i) => i);
  for (let i = 0, j = 0; i < 256; i += 1) {
    j = (j + s[i]! + key[i % key.length]!) % 256;
    [s[i], s[j]] = [s[j]!, s[i]!];
  }
  let a = 0;
  let b = 0;
  return Buffer.from(
    data.map((byte) => {
      a = (a + 1) % 256;
      b = (b + s[a]!) % 256;
      [s[a], s[b]] = [s[b]!, s[a]!];
      return byte ^ s[(s[a]! + s[b]!) % 256]!;
    }),
  );
}

/** Encrypted with a user password (standard security handler, revision 2). */
export function encryptedPdf(password: string): Buffer {
  const id = Buffer.alloc(16, 7);
  const owner = rc4(md5(padded('owner')).subarray(0, 5), padded(password));
  const permissions = Buffer.from([0xfc, 0xff, 0xff, 0xff]);
  const key = md5(padded(password), owner, permissions, id).subarray(0, 5);
  const user = rc4(key, PADDING);
  const hex = (bytes: Buffer): string => `<${bytes.toString('hex')}>`;
  const dictionary = `<< /Filter /Standard /V 1 /R 2 /P -4 /O ${hex(owner)} /U ${hex(user)} >>`;
  const cipher: Cipher = (content, object) => {
    const salt = Buffer.from([object & 255, object >> 8, 0, 0, 0]);
    return rc4(md5(key, salt).subarray(0, 10), text(content)).toString('latin1');
  };
  const trailer = `/Encrypt 6 0 R /ID [${hex(id)} ${hex(id)}]`;
  return plainPdf(['secret'], trailer, { more: [dictionary], cipher });
}

/** One letter page with the given content stream; Helvetica is /F1, Helvetica-Bold /F2, transparency /G0. */
export const drawnPdf = (content: string, pages = 1): Buffer => {
  const kids = Array.from({ length: pages }, () => '3 0 R').join(' ');
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`,
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << ' +
        '/Font << /F1 5 0 R /F2 6 0 R >> /ExtGState << /G0 << /ca 0 >> >> >> >>',
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>',
    ],
    '',
  );
};

/**
 * Letter pages, one or several alike, that are a picture, with what is drawn over it: Helvetica is /F1. `picture` is
 * grey in JPEG and as large as the page at 150 pixels an inch.
 */
export const scannedPdf = (
  picture: { readonly jpeg: Buffer; readonly width: number; readonly height: number },
  over: string,
  { place = '612 0 0 792 0 0', pages = 1 }: { readonly place?: string; readonly pages?: number } = {},
): Buffer => {
  const content = `q ${place} cm /I Do Q\n${over}`;
  const kids = Array.from({ length: pages }, () => '3 0 R').join(' ');
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`,
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << ' +
        '/Font << /F1 5 0 R >> /XObject << /I 6 0 R >> >> >>',
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      Buffer.concat([
        text(
          `<< /Type /XObject /Subtype /Image /Width ${picture.width} /Height ${picture.height} /ColorSpace ` +
            `/DeviceGray /BitsPerComponent 8 /Filter /DCTDecode /Length ${picture.jpeg.length} >>\nstream\n`,
        ),
        picture.jpeg,
        text('\nendstream'),
      ]),
    ],
    '',
  );
};

/** One letter page for each text, in Helvetica; a text that is undefined: a page that keeps a parser busy for hours. */
export const busyPdf = (texts: readonly (string | undefined)[]): Buffer => {
  const levels = 40;
  const stream = (entries: string, content: string): string =>
    `<< ${entries} /Length ${content.length} >>\nstream\n${content}\nendstream`;
  // Each form draws the next one twice.
  const forms = Array.from({ length: levels }, (_, i) =>
    stream(
      `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> ` +
        `/XObject << /X ${i + 1 < levels ? 5 + i : 3} 0 R >> >>`,
      i + 1 < levels ? '/X Do /X Do' : 'BT /F1 12 Tf 72 600 Td (deep) Tj ET',
    ),
  );
  const kids = texts.map((_, i) => `${4 + levels + 2 * i} 0 R`).join(' ');
  const pages = texts.flatMap((text, i) => [
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> ' +
      `/XObject << /X 4 0 R >> >> /Contents ${5 + levels + 2 * i} 0 R >>`,
    stream('', text === undefined ? '/X Do' : `BT /F1 12 Tf 72 700 Td (${text}) Tj ET`),
  ]);
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Kids [${kids}] /Count ${texts.length} >>`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      ...forms,
      ...pages,
    ],
    '',
  );
};
