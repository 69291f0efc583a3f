import { PAGE } from './pdfPages.ts';

interface Picture {
  readonly jpeg: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Numbered objects as a file, with their cross-reference table. Object 1 is the catalog. */
function fileOf(objects: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  let length = 9;
  const offsets = objects.map((body, index) => {
    const from = length;
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from('\nendobj\n')]);
    parts.push(part);
    length += part.length;
    return from;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const end =
    `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R >>` +
    `\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(end)]);
}

const stream = (dictionary: string, data: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`<< ${dictionary} /Length ${data.length} >>\nstream\n`),
    data,
    Buffer.from('\nendstream'),
  ]);

const HEAD = 4;
const MEDIA = `/MediaBox [0 0 ${PAGE.width} ${PAGE.height}]`;

function withPages(pages: readonly { readonly page: string; readonly parts: readonly Buffer[] }[]): Buffer {
  const kids: string[] = [];
  const bodies: Buffer[] = [];
  for (const { page, parts } of pages) {
    const at = HEAD + 1 + bodies.length;
    kids.push(`${at} 0 R`);
    const refs = page.replace(/#(\d)/g, (_, n: string) => `${at + Number(n)} 0 R`);
    bodies.push(Buffer.from(`<< /Type /Page /Parent 2 0 R ${MEDIA} ${refs} >>`), ...parts);
  }
  const head = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>',
  ];
  return fileOf([...head.map((text) => Buffer.from(text)), ...bodies]);
}

/** A PDF of these content streams, one a page; /F1 is Helvetica, /F2 its bold. */
export const pagedPdf = (contents: readonly string[]): Buffer =>
  withPages(
    contents.map((content) => ({
      page: '/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents #1',
      parts: [stream('', Buffer.from(content, 'latin1'))],
    })),
  );

/** A PDF whose pages are one grey JPEG each, as scanners write them. */
export const scannedPdf = (pictures: readonly Picture[]): Buffer =>
  withPages(
    pictures.map(({ jpeg, width, height }) => ({
      page: '/Resources << /XObject << /I #2 >> >> /Contents #1',
      parts: [
        stream('', Buffer.from(`q ${PAGE.width} 0 0 ${PAGE.height} 0 0 cm /I Do Q`)),
        stream(
          `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace ` +
            '/DeviceGray /BitsPerComponent 8 /Filter /DCTDecode',
          jpeg,
        ),
      ],
    })),
  );
