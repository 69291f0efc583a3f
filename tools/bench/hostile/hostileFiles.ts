import { strToU8, zipSync } from 'fflate';
import { crc32, deflateSync } from 'node:zlib';
import { encryptedPdf, pdfOf, plainPdf } from '../../../engine/test/support/pdfs.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';

/** A file that is sent to do harm, or that looks so. */
export interface HostileFile {
  readonly what: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

const CONTENT_TYPES =
  '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override ' +
  'PartName="/word/document.xml" ' +
  'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>' +
  '</Types>';
const RELATIONS =
  '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
  '<Relationship Id="r1" ' +
  'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ' +
  'Target="word/document.xml"/></Relationships>';
const DOCUMENT =
  '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>';

const docx = (body: Uint8Array | string): Uint8Array =>
  zipSync(
    {
      '[Content_Types].xml': strToU8(CONTENT_TYPES),
      '_rels/.rels': strToU8(RELATIONS),
      'word/document.xml': typeof body === 'string' ? strToU8(body) : body,
    },
    { level: 6 },
  );

const pngPart = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body) >>> 0);
  return Buffer.concat([length, body, check]);
};

/** White, one bit a pixel: small as a file, 4 bytes a pixel where it is unpacked. */
const hugePng = (side: number): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.writeUInt8(1, 8);
  const rows = deflateSync(Buffer.alloc((Math.ceil(side / 8) + 1) * side), { level: 1 });
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngPart('IHDR', header),
    pngPart('IDAT', rows),
    pngPart('IEND', Buffer.alloc(0)),
  ]);
};

const entityBomb = (): string => {
  const levels = Array.from({ length: 12 }, (_, n) => n + 1);
  const entities = levels.map((n) => `<!ENTITY e${n} "${`&e${n - 1};`.repeat(10)}">`).join('');
  return (
    `<!DOCTYPE d [<!ENTITY e0 "lol">${entities}]>${DOCUMENT}<w:p><w:r><w:t>&e12;</w:t></w:r>` +
    '</w:p></w:body></w:document>'
  );
};

const nested = (depth: number): string =>
  `${DOCUMENT}${'<w:tbl><w:tr><w:tc>'.repeat(depth)}${'</w:tc></w:tr></w:tbl>'.repeat(depth)}</w:body></w:document>`;

/** Each form draws the next ten times: so many levels of it never end. */
const endlessPdf = (levels: number): Buffer => {
  const stream = (dictionary: string, content: string): string =>
    `<< ${dictionary} /Length ${content.length} >>\nstream\n${content}\nendstream`;
  const form = (resources: string, content: string): string =>
    stream(`/Type /XObject /Subtype /Form /BBox [0 0 400 200] /Resources << ${resources} >>`, content);
  const draw = '/X Do '.repeat(10);
  const first = 6;
  const forms = Array.from({ length: levels }, (_, n) =>
    form(`/XObject << /X ${first + n + 1} 0 R >>`, draw),
  );
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << ' +
        `/XObject << /X ${first} 0 R >> >> >>`,
      stream('', draw),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      ...forms,
      form('', 'q Q'),
    ],
    '',
  );
};

const noise = (length: number): Uint8Array => {
  const random = seededRandom(1);
  return Uint8Array.from({ length }, () => random.between(0, 255));
};

/** Made anew in every run, the same each time. */
export const hostileFiles = (): readonly HostileFile[] => {
  const whole = plainPdf(['Invoice number: Q-1', 'Total: 12.50 EUR']);
  const bomb = Buffer.alloc(300 * 1024 * 1024, 0x20);
  bomb.write(DOCUMENT);
  return [
    { what: 'zip bomb: 300 MiB of XML in a DOCX', name: 'bomb.docx', bytes: docx(bomb) },
    { what: 'pixel bomb: PNG of 40,000 × 40,000', name: 'bomb.png', bytes: hugePng(40_000) },
    { what: 'entity bomb: 10^12 expansions in a DOCX', name: 'lol.docx', bytes: docx(entityBomb()) },
    { what: 'deep nesting: 100,000 tables in tables, DOCX', name: 'deep.docx', bytes: docx(nested(100_000)) },
    { what: 'deep nesting: 100,000 quotes, Markdown', name: 'deep.md', bytes: strToU8('> '.repeat(100_000)) },
    { what: 'truncated PDF', name: 'cut.pdf', bytes: whole.subarray(0, whole.length / 2) },
    { what: 'encrypted PDF', name: 'locked.pdf', bytes: encryptedPdf('secret') },
    {
      what: '5,000 pages',
      name: 'long.pdf',
      bytes: plainPdf(Array.from({ length: 5_000 }, (_, n) => `page ${n}`)),
    },
    { what: 'wrong extension: a PDF named .docx', name: 'letter.docx', bytes: whole },
    {
      what: 'wrong extension: random bytes named .pdf',
      name: 'noise.pdf',
      bytes: noise(50_000),
    },
    { what: 'endless parse: 10^20 drawings in a PDF', name: 'endless.pdf', bytes: endlessPdf(20) },
  ];
};
