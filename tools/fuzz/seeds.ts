import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import sharp from 'sharp';
import * as xlsx from '@e965/xlsx';
import { strToU8, zipSync } from 'fflate';
import iconv from 'iconv-lite';
import { pagedPdf } from '../../engine/test/bench/pagedPdf.ts';
import { mappedCode, mappedPdf } from '../../engine/test/support/mappedPdfs.ts';
import { pictureOf } from '../../engine/test/support/pagePictures.ts';
import { drawnPdf, pdfOf, scannedPdf, encryptedPdf, plainPdf } from '../../engine/test/support/pdfs.ts';
import { bmpOf, pixelsOf } from '../../engine/test/support/bmps.ts';
import { epub } from '../../engine/test/support/bookFiles.ts';
import { msg } from '../../engine/test/support/outlookFiles.ts';
import { odp, pptx, shape, text } from '../../engine/test/support/slideFiles.ts';

/*
 * PDFs for what is told from the look of pages and from what lies beside them in the file. Nothing in them is
 * packed, so that a changed byte reaches the reader that is meant and not an unpacker.
 */

const at = ([x, y]: readonly [number, number], text: string, size = 10): string =>
  `BT /F1 ${size} Tf ${x} ${y} Td (${text}) Tj ET`;
const stream = (data: string): string => `<< /Length ${data.length} >>\nstream\n${data}\nendstream`;

/** A ruled table of a page: the header again, then rows with their numbers. */
const tablePage = (first: number): string => {
  const tops = Array.from({ length: 26 }, (_, i) => 720 - i * 24);
  const rules = [60, 200, 320, 440].map((x) => `${x} 120 m ${x} 744 l S`);
  const lines = tops.map((y) => `60 ${y + 24} m 440 ${y + 24} l S`);
  const rows = tops.map((y, i) => {
    const cells = i === 0 ? ['Item', 'Count', 'Price'] : [`pear ${first + i}`, String(i), `${i}.50`];
    return cells.map((cell, column) => at([[66, 206, 326][column] ?? 0, y + 6], cell)).join('\n');
  });
  return [...rules, ...lines, ...rows].join('\n');
};

/** Labels in one block, their values in the next, as forms print whose template is laid under them. */
const labelBlocks = (): string => {
  const labels = ['Order number', 'Date', 'Customer', 'Total', 'Place of delivery'];
  const values = ['O-17', '2026-02-03', 'Pear and Plum Ltd', '119.00', 'Hamburg'];
  const column = (texts: readonly string[], x: number): string =>
    texts.map((text, i) => at([x, 700 - 18 * i], text)).join('\n');
  const register = Array.from({ length: 12 }, (_, i) => [
    at([60, 520 - 16 * i], `Ames ${i}`),
    at([220, 520 - 16 * i], `${i + 1} pears`),
    at([380, 520 - 16 * i], `${i}.25`),
  ]);
  return [column(labels, 60), column(values, 300), ...register.flat()].join('\n');
};

const NOTE =
  'BT /F1 12 Tf 40 700 Td (We pay the sum) Tj /F1 7 Tf 4 Ts (1) Tj 0 Ts /F1 12 Tf ( by May.) Tj ET';
const NOTE_BELOW = 'BT /F1 5 Tf 40 90 Td 3 Ts (1) Tj 0 Ts /F1 9 Tf ( Of all that is due.) Tj ET';
const notes = (): string =>
  [NOTE, at([40, 650], 'All else goes on as before, by whomever it was.', 12), NOTE_BELOW].join('\n');

const SIGNS = ['山', '上', '古', '寺', '春', '人'];
const mapped = (draw: (sign: string, i: number) => readonly [number, number]): Buffer => {
  const signs = Array.from({ length: 60 }, (_, i) => SIGNS[i % SIGNS.length] ?? '');
  const drawn = signs.map((sign, i) => {
    const [x, y] = draw(sign, i);
    return `BT /F1 12 Tf 1 0 0 1 ${x} ${y} Tm <${mappedCode(SIGNS, sign)}> Tj ET`;
  });
  return mappedPdf(SIGNS, drawn.join('\n'));
};

/** Text whose font says other letters than it draws: each stands for the third before it. */
const garbled = (): string =>
  Array.from({ length: 12 }, (_, i) =>
    at([60, 700 - 30 * i], 'Wkh ohwwhuv ri wklv whaw duh vkliwhg wkuhh', 12),
  ).join('\n');

/** Fields of all kinds, a box that is ticked, and a parent whose child is itself. */
const boxes = (): Buffer => {
  const content = [at([50, 125], 'Name'), at([120, 76], 'paid'), at([50, 55], 'Country')].join('\n');
  const widget = (rect: string, rest: string): string =>
    `<< /Type /Annot /Subtype /Widget /Rect [${rect}] ${rest} >>`;
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R 8 0 R 9 0 R] /DA (/F1 10 Tf) >> >>',
      '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Resources << /Font << /F1 3 0 R >> >> ' +
        '/Contents 5 0 R /Annots [6 0 R 7 0 R 8 0 R] >>',
      stream(content),
      widget('50 100 250 120', '/FT /Tx /T (name) /TU (Name of the customer) /V (Ann Ames)'),
      widget('100 74 112 86', '/FT /Btn /T (paid) /V /Yes /AS /Yes /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>'),
      widget(
        '100 50 250 64',
        '/FT /Ch /T (country) /Ff 131072 /Opt [[(de) (Germany)] [(fr) (France)]] /V (de)',
      ),
      '<< /T (loop) /Kids [9 0 R 6 0 R] /Parent 9 0 R >>',
    ],
    '',
  );
};

/** Bookmarks that lead back to themselves and to each other. A tree of pages that does so ends PDFium. */
const circles = (): Buffer =>
  pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      stream([at([60, 700], '1.2 Orders', 18), at([60, 660], 'Order O-17 of 2026-02-03.')].join('\n')),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      '<< /Type /Outlines /First 7 0 R /Last 8 0 R /Count 2 >>',
      '<< /Title (1.2 Orders) /Parent 6 0 R /Next 8 0 R /First 9 0 R /Dest [3 0 R /Fit] >>',
      '<< /Title (Notes) /Parent 6 0 R /Prev 7 0 R /Next 7 0 R /First 7 0 R /A << /S /GoTo /D [3 0 R /Fit] >> >>',
      '<< /Title <feff004f> /Parent 7 0 R /Next 9 0 R /First 6 0 R /Dest (nowhere) >>',
    ],
    '',
  );

const layer = (text: string): string => `3 Tr\n${at([60, 700], text, 14)}\n${at([60, 676], text, 14)}`;

/** A scan whose layer says something else than its picture. */
const searchable = async (): Promise<Buffer> => {
  const drawn = await pictureOf(drawnPdf(at([60, 700], 'The sum of order O-17 is 119.00 in all', 14)), 100);
  const { data, info } = await sharp(drawn)
    .flatten({ background: '#fff' })
    .toColourspace('b-w')
    .jpeg()
    .toBuffer({ resolveWithObject: true });
  return scannedPdf({ jpeg: data, ...info }, layer('Nothing of this stands on the page that was scanned'));
};

/** One sound PDF for each thing that is read from the look of a page or beside its text. */
const pageSeeds = async (): Promise<Readonly<Record<string, Uint8Array>>> => ({
  'continued.pdf': pagedPdf([tablePage(0), tablePage(25), tablePage(50)]),
  'boxes.pdf': boxes(),
  'columns.pdf': mapped((_, i) => [500 - 21 * Math.floor(i / 20), 700 - 12 * (i % 20)]),
  'garbled.pdf': drawnPdf(garbled()),
  'notes.pdf': drawnPdf(notes(), 2),
  'searchable.pdf': await searchable(),
  'labels.pdf': drawnPdf(labelBlocks()),
  'circles.pdf': circles(),
  'sideways.pdf': drawnPdf(
    ['Order O-17', 'Date 2026-02-03', 'Total 119.00']
      .map((text, i) => `BT /F1 12 Tf 0 1 -1 0 ${100 + 20 * i} 100 Tm (${text}) Tj ET`)
      .join('\n'),
  ),
});

/** A sound document that mutations begin at. */
export interface Seed {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const WORDS =
  'Order O-17 of 2026-02-03 from Pear & Plum Ltd. Net 100.00 EUR, tax 19.00 EUR, total 119.00 EUR.';

/** OpenDocument files are told by a first member that is not compressed. */
export const packed = (members: Readonly<Record<string, Uint8Array>>): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Object.entries(members).map(([name, bytes]) => [name, [bytes, { level: name === 'mimetype' ? 0 : 1 }]]),
    ),
  );

const zipped = (members: Readonly<Record<string, string>>): Uint8Array =>
  packed(Object.fromEntries(Object.entries(members).map(([name, text]) => [name, strToU8(text)])));

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const run = (text: string): string => `<w:r><w:t>${text.replaceAll('&', '&amp;')}</w:t></w:r>`;
const paragraph = (text: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr>${run(text)}</w:p>`;
const cell = (text: string): string =>
  `<w:tc><w:tcPr><w:gridSpan w:val="1"/></w:tcPr>${paragraph(text)}</w:tc>`;

const docx = (): Uint8Array =>
  zipped({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default ' +
      'Extension="rels" ' +
      'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default ' +
      'Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ' +
      'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>' +
      '</Types>',
    '_rels/.rels':
      `<Relationships xmlns="${RELATIONS}"><Relationship Id="r1" Type="${OFFICE}` +
      '/officeDocument" Target="word/document.xml"/></Relationships>',
    'word/_rels/document.xml.rels':
      `<Relationships xmlns="${RELATIONS}"><Relationship Id="r2" Type="${OFFICE}/styles" ` +
      `Target="styles.xml"/><Relationship Id="r3" Type="${OFFICE}/numbering" ` +
      'Target="numbering.xml"/></Relationships>',
    'word/styles.xml':
      `<w:styles ${W}><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/>` +
      '<w:basedOn w:val="N"/></w:style><w:style w:type="paragraph" w:styleId="N"><w:name ' +
      'w:val="Normal"/></w:style></w:styles>',
    'word/numbering.xml':
      `<w:numbering ${W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start ` +
      'w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum>' +
      '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>',
    'word/document.xml':
      `<w:document ${W}><w:body>${paragraph('Order', '<w:pStyle w:val="H1"/>')}` +
      paragraph(WORDS) +
      `${paragraph('one', '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>')}<w:tbl>` +
      `<w:tr>${cell('item')}${cell('price')}</w:tr><w:tr>${cell('pear')}${cell('3.00')}</w:tr>` +
      '</w:tbl></w:body></w:document>',
  });

const ODF = 'urn:oasis:names:tc:opendocument:xmlns';
const odt = (): Uint8Array =>
  zipped({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'META-INF/manifest.xml': `<manifest:manifest xmlns:manifest="${ODF}:manifest:1.0"/>`,
    'styles.xml': `<office:document-styles xmlns:office="${ODF}:office:1.0"/>`,
    'content.xml':
      `<office:document-content xmlns:office="${ODF}:office:1.0" xmlns:text="${ODF}:text:1.0" ` +
      `xmlns:table="${ODF}:table:1.0"><office:body><office:text><text:h text:outline-level="1">` +
      `Order</text:h><text:p>${WORDS.replaceAll('&', '&amp;')}</text:p><text:list>` +
      '<text:list-item><text:p>one</text:p></text:list-item></text:list><table:table>' +
      '<table:table-row><table:table-cell><text:p>pear</text:p></table:table-cell>' +
      '<table:table-cell table:number-columns-repeated="2"><text:p>3</text:p>' +
      '</table:table-cell></table:table-row></table:table></office:text></office:body>' +
      '</office:document-content>',
  });

/** The package types its compound files as `any`. */
interface CompoundFiles {
  readonly utils: {
    readonly cfb_new: () => object;
    readonly cfb_add: (file: object, path: string, content: Buffer) => void;
  };
  readonly write: (file: object, options: { readonly type: 'buffer' }) => Buffer;
}
const compound = xlsx.CFB as CompoundFiles;

/** The least that Word 97 would call a document: a header, one run of text and where it lies. */
const doc = (): Uint8Array => {
  const stream = Buffer.alloc(4096 + 512);
  const text = Buffer.from(`${WORDS}\rone\rtwo\r`, 'latin1');
  for (const [value, at] of [
    [0xa5ec, 0],
    [0x00c1, 2],
    [0x0200, 10],
    [14, 32],
    [22, 62],
    [93, 152],
  ] as const)
    stream.writeUInt16LE(value, at);
  stream.writeUInt32LE(text.length, 76);
  stream.writeUInt32LE(0, 154 + 33 * 8);
  stream.writeUInt32LE(21, 154 + 33 * 8 + 4);
  text.copy(stream, 0x800);
  const table = Buffer.alloc(4096 + 512);
  table.writeUInt8(2, 0);
  table.writeUInt32LE(16, 1);
  table.writeUInt32LE(text.length, 9);
  table.writeUInt32LE(0x40000000 | (0x800 * 2), 15);
  const file = compound.utils.cfb_new();
  compound.utils.cfb_add(file, '/WordDocument', stream);
  compound.utils.cfb_add(file, '/1Table', table);
  return compound.write(file, { type: 'buffer' });
};

const sheet = (bookType: xlsx.BookType): Uint8Array => {
  const book = xlsx.utils.book_new();
  const rows = [['item', 'count', 'price'], ...Array.from({ length: 20 }, (_, n) => [`pear ${n}`, n, n / 4])];
  xlsx.utils.book_append_sheet(book, xlsx.utils.aoa_to_sheet(rows), 'Orders');
  xlsx.utils.book_append_sheet(book, xlsx.utils.aoa_to_sheet([[WORDS]]), 'Notes');
  return xlsx.write(book, { type: 'buffer', bookType }) as Buffer;
};

const SVG =
  `<svg xmlns="http://www.w3.org/2000/svg" width="360" height="80"><rect width="360" ` +
  `height="80" fill="white"/><text x="12" y="48" font-family="sans-serif" font-size="24">` +
  `Order O-17, total 119.00</text></svg>`;

const pictures = async (): Promise<readonly Seed[]> => {
  const drawn = () => sharp(Buffer.from(SVG)).flatten({ background: 'white' });
  const { data, info } = await drawn().raw().toBuffer({ resolveWithObject: true });
  const pixels = pixelsOf(data, info.width);
  return [
    { name: 'order.png', bytes: await drawn().png().toBuffer() },
    { name: 'order.jpg', bytes: await drawn().jpeg().toBuffer() },
    { name: 'order.webp', bytes: await drawn().webp().toBuffer() },
    { name: 'order.gif', bytes: await drawn().gif().toBuffer() },
    { name: 'order.tiff', bytes: await drawn().tiff().toBuffer() },
    { name: 'order.bmp', bytes: bmpOf(pixels, { depth: 24 }) },
    { name: 'order-16.bmp', bytes: bmpOf(pixels, { depth: 16, packing: 'bit_fields' }) },
    { name: 'order-32.bmp', bytes: bmpOf(pixels, { depth: 32, topDown: true }) },
  ];
};

const mail = (attached: Uint8Array): string =>
  [
    'From: Pear <pear@example.org>',
    'To: plum@example.org',
    'Subject: =?utf-8?q?Order_O-17?=',
    'Date: Tue, 03 Feb 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="part"',
    '',
    `--part\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${WORDS}\r\n--part`,
    'Content-Type: application/pdf; name="order.pdf"',
    'Content-Disposition: attachment; filename="order.pdf"',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(attached).toString('base64').replace(/.{76}/g, '$&\r\n'),
    '--part--',
    '',
  ].join('\r\n');

const RTF =
  `{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0\\fs24 ${WORDS}\\par{\\b ` +
  'bold}\\par\\trowd\\cellx2000\\cellx4000 a\\cell b\\cell\\row}';
const CSV = 'item;count;price\r\n"pear; green";3;"1,50"\r\nplum;4;2,00\r\n';
const HTML =
  '<!doctype html><html><head><title>Order</title><style>p{}</style></head><body><h1>' +
  `Order</h1><p>${WORDS}</p><ul><li>one<ul><li>two</li></ul></li></ul><table><tr><th ` +
  'colspan="2">items</th></tr><tr><td>pear</td><td>3</td></tr></table><a ' +
  'href="https://example.org">link</a></body></html>';
const MARKDOWN =
  `# Order\n\n${WORDS}\n\n- one\n  - two\n\n| item | price |\n| --- | ---: |\n| pear | ` +
  `3.00 |\n\n\`\`\`js\nlet x;\n\`\`\`\n`;

/** One sound document of every format, the same in every run. */
export const generatedSeeds = async (): Promise<readonly Seed[]> => {
  const pdf = plainPdf([WORDS.replace(/[()\\]/g, ''), 'second page', 'third page']);
  const drawing = drawnPdf(
    '0 0 1 rg 50 700 200 1 re f BT /F2 18 Tf 50 720 Td (Order) Tj ET BT /F1 11 Tf 50 680 Td (Total: 119.00 EUR) Tj ET',
    2,
  );
  const texts: Readonly<Record<string, Uint8Array | string>> = {
    'order.pdf': pdf,
    'drawn.pdf': drawing,
    'locked.pdf': encryptedPdf('secret'),
    ...(await pageSeeds()),
    'order.docx': docx(),
    'order.odt': odt(),
    'order.doc': doc(),
    'order.rtf': RTF,
    'order.xlsx': sheet('xlsx'),
    'order.xls': sheet('biff8'),
    'order.ods': sheet('ods'),
    'order.csv': CSV,
    'wide.csv': iconv.encode(CSV, 'utf-16le', { addBOM: true }),
    'kana.csv': iconv.encode('品目,数\r\nなし,3\r\n', 'shift_jis'),
    'order.eml': mail(pdf),
    'order.msg': msg({
      properties: { '0037': 'Order', '1000': WORDS },
      attachments: [{ '3701': Buffer.from(pdf) }],
    }),
    'order.pptx': pptx({
      slides: [{ shapes: shape(text(WORDS.replace('&', '&amp;')), { kind: 'body' }), notes: 'a note' }],
    }),
    'order.odp': odp(
      `<draw:page><draw:frame><draw:text-box><text:p>${WORDS.replace('&', '&amp;')}</text:p>` +
        '</draw:text-box></draw:frame></draw:page>',
    ),
    'order.epub': epub({ 'a.xhtml': `<h1>Order</h1><p>${WORDS.replace('&', '&amp;')}</p>` }),
    'order.html': HTML,
    'order.md': MARKDOWN,
    'order.vcf':
      `BEGIN:VCARD\nVERSION:3.0\nFN:Pear\\, Plum\nTEL;TYPE=WORK:1\nNOTE:${WORDS}\nEND:VCARD\n`.repeat(2),
    'order.ics':
      'BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID=Europe/Berlin:20260203T100000\n' +
      `ORGANIZER;CN="Pear":mailto:a@example.com\nSUMMARY:${WORDS}\nEND:VEVENT\nEND:VCALENDAR\n`,
    'order.ofx': `OFXHEADER:100\n<OFX><STMTRS><CURDEF>USD\n<STMTTRN><DTPOSTED>20310604<MEMO>${WORDS}</OFX>\n`,
    'order.tsv': CSV.replaceAll(';', '\t'),
    'order.txt': `${WORDS}\n`.repeat(5),
  };
  const files = Object.entries(texts).map(([name, content]) => ({
    name,
    bytes: typeof content === 'string' ? strToU8(content) : content,
  }));
  return [...files, ...(await pictures())];
};

/** The files of a folder and of the folders in it, by name; those above `bytesMax` are left out. */
export const seedsIn = (folder: string, bytesMax: number): readonly Seed[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name) !== '')
    .map(({ parentPath, name }) => ({ name, path: join(parentPath, name) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ name, path }) => ({ name, bytes: readFileSync(path) }))
    .filter(({ bytes }) => bytes.length <= bytesMax);
