import sharp from 'sharp';
import { drawnPdf } from '../../support/pdfs.ts';

export const LETTER = [
  'The quick brown fox jumps over the lazy dog and the old cat.',
  'Invoice number 4711 of the third of March, with the sum of 129.50',
  'is to be paid within thirty days from the date of this letter.',
];
export const drawn = (lines: readonly string[], more = ''): Buffer =>
  drawnPdf(
    `${lines.map((text, i) => `BT /F1 14 Tf 60 ${700 - 24 * i} Td (${text}) Tj ET`).join('\n')}\n${more}`,
  );

/** A PDF whose pages are one JPEG picture. */
export const scanOf = async (png: Buffer): Promise<Buffer> => {
  const { data, info } = await sharp(png)
    .flatten({ background: '#fff' })
    .toColourspace('b-w')
    .jpeg({ quality: 90 })
    .toBuffer({ resolveWithObject: true });
  const [width, height] = [(info.width / 150) * 72, (info.height / 150) * 72];
  const content = `q ${width} 0 0 ${height} 0 0 cm /I Do Q`;
  const parts: Buffer[] = [];
  const offsets: number[] = [];
  const add = (part: string | Buffer): void =>
    void parts.push(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
  const size = (): number => parts.reduce((sum, { length }) => sum + length, 0);
  const object = (number: number, ...body: (string | Buffer)[]): void => {
    offsets.push(size());
    add(`${number} 0 obj\n`);
    body.forEach(add);
    add('\nendobj\n');
  };
  add('%PDF-1.4\n');
  object(1, '<< /Type /Catalog /Pages 2 0 R >>');
  object(2, '<< /Type /Pages /Kids [3 0 R] /Count 1 >>');
  object(
    3,
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Resources << /XObject ` +
      '<< /I 5 0 R >> >> /Contents 4 0 R >>',
  );
  object(4, `<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
  object(
    5,
    `<< /Type /XObject /Subtype /Image /Width ${info.width} /Height ${info.height} ` +
      `/ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode /Length ${data.length} >>` +
      '\nstream\n',
    data,
    '\nendstream',
  );
  const start = size();
  add(
    'xref\n0 6\n0000000000 65535 f ' +
      `\n${offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')}`,
  );
  add(`trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.concat(parts);
};
