import { deserialize, serialize } from 'node:v8';
import { expect } from 'chai';
import sharp from 'sharp';
import type { Code } from '../../document/codes.ts';
import { withAskedCodes, withCodes } from '../../isolation/codesOfDocument.ts';
import { extract } from '../../extraction/extract.ts';
import { openFile, readFileAsDocument } from '../../formats/readDocument.ts';
import { runJob } from '../../isolation/runJob.ts';
import type { Document } from '../../document/document.ts';
import { codePng, pdfWithCode } from '../support/codePictures.ts';

const EPC = [
  'BCD',
  '002',
  '1',
  'SCT',
  'GENODEF1ABC',
  'Alder & Birch GmbH',
  'DE89370400440532013000',
  'EUR1234.50',
  '',
  'RF18539007547034',
  '',
].join('\n');

const SWISS = [
  'SPC',
  '0200',
  '1',
  'CH4431999123000889012',
  'S',
  'Robert Schneider AG',
  'Rue du Lac',
  '1268',
  '2501',
  'Biel',
  'CH',
  '',
  '',
  '',
  '',
  '',
  '',
  '',
  '1949.75',
  'CHF',
  'S',
  'Pia Rutschmann',
  'Marktgasse',
  '28',
  '9400',
  'Rorschach',
  'CH',
  'QRR',
  '210000000003139471430009017',
  'Order 15.06.2020',
  'EPD',
  '',
].join('\r\n');

/** A page of A4 at 150 dots an inch with codes on it. */
const pageWith = async (
  codes: readonly { readonly png: Buffer; readonly left: number; readonly top: number }[],
) =>
  sharp({ create: { width: 1240, height: 1754, channels: 3, background: '#ffffff' } })
    .composite(codes.map(({ png, left, top }) => ({ input: png, left, top })))
    .png()
    .toBuffer();

const fileOf = (bytes: Buffer, fileName: string) =>
  ({ bytes, fileName, effort: 'standard', languages: ['eng'], pagesMax: 10 }) as const;

const never = () => false;

const read = async (bytes: Buffer, fileName: string): Promise<Document> => {
  const parsed = await readFileAsDocument({ ...fileOf(bytes, fileName), effort: 'fast' });
  if (parsed.kind !== 'ok') throw new Error(parsed.kind);
  return parsed.document;
};

/** A picture as a document of which no text was recognised: codes need none. */
const pictured = async (bytes: Buffer): Promise<Document> => {
  const { width, height } = await sharp(bytes).metadata();
  const page = {
    page: 1,
    status: 'empty',
    source: 'ocr',
    detail: null,
    width,
    height,
    lines: [],
    blocks: [],
  } as const;
  return { mimeType: 'image/png', pages: [page], warnings: [] };
};

const documentOf = (bytes: Buffer, fileName: string): Promise<Document> =>
  fileName.endsWith('.png') ? pictured(bytes) : read(bytes, fileName);

const codesIn = async (bytes: Buffer, fileName: string): Promise<readonly Code[]> =>
  (await withCodes(fileOf(bytes, fileName), await documentOf(bytes, fileName), never)).codes ?? [];

describe('codes on pages', () => {
  it('are read in each format, with their boxes', async () => {
    const wanted = [
      ['QRCode', 'qr_code', 'hello'],
      ['DataMatrix', 'data_matrix', 'part 4711'],
      ['PDF417', 'pdf417', 'boarding'],
      ['Aztec', 'aztec', 'ticket'],
      ['EAN13', 'ean_13', '4006381333931'],
      ['Code128', 'code_128', 'PARCEL-0001'],
    ] as const;
    const placed = await Promise.all(
      wanted.map(async ([format, , text], at) => ({
        png: await codePng(text, format, 4),
        left: 40 + 510 * (at % 2),
        top: 100 + 480 * Math.floor(at / 2),
      })),
    );
    const codes = await codesIn(await pageWith(placed), 'codes.png');
    expect(codes.map(({ format, text }) => `${format} ${text}`).sort()).to.deep.equal(
      wanted.map(([, format, text]) => `${format} ${text}`).sort(),
    );
    const qr = codes.find(({ format }) => format === 'qr_code');
    expect(qr?.box?.[0]).to.be.within(40, 120);
    expect(qr?.box?.[1]).to.be.within(100, 180);
  });

  it('of payments and addresses say their parts where the check digits agree', async () => {
    const parsed = async (text: string) =>
      (
        await codesIn(await pageWith([{ png: await codePng(text, 'QRCode'), left: 100, top: 100 }]), 'a.png')
      )[0]?.parsed;
    expect(await parsed(EPC)).to.include({
      kind: 'epc_payment',
      iban: 'DE89370400440532013000',
      payee: 'Alder & Birch GmbH',
      amount: 1234.5,
      reference: 'RF18539007547034',
    });
    expect(await parsed(EPC.replace('DE89', 'DE88'))).to.equal(undefined);
    expect(await parsed(SWISS)).to.deep.include({
      kind: 'swiss_qr_bill',
      iban: 'CH4431999123000889012',
      amount: 1949.75,
      currency: 'CHF',
      reference: '210000000003139471430009017',
    });
    expect(await parsed('https://example.org/a?b=c')).to.deep.equal({
      kind: 'url',
      url: 'https://example.org/a?b=c',
    });
    expect(await parsed('javascript:alert(1)')).to.equal(undefined);
    const card =
      'BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada Alder\r\nORG:Birch;Sales\r\nTEL;TYPE=work:+49 30 1\r\nEND:VCARD';
    expect(await parsed(card)).to.include({ kind: 'vcard', name: 'Ada Alder', organization: 'Birch, Sales' });
  });

  it('on the page of a PDF stand where they are drawn, and are sources of exact values', async () => {
    const bytes = await pdfWithCode(
      await codePng(EPC, 'QRCode'),
      'Invoice number: Q-77\nPlease pay 1,234.50 EUR.',
    );
    const [code] = await codesIn(bytes, 'invoice.pdf');
    expect(code?.page).to.equal(1);
    expect(code?.box?.[0]).to.be.within(100, 120);
    expect(code?.box?.[1]).to.be.within(500, 520);
    expect(code?.box?.[2]).to.be.within(200, 221);
    const schema = {
      type: 'object',
      properties: {
        iban: { type: 'string' },
        invoice_number: { type: 'string' },
        amount_due: { type: 'number' },
      },
    };
    const document = await withAskedCodes(
      { file: fileOf(bytes, 'i.pdf'), schema },
      await read(bytes, 'i.pdf'),
      never,
    );
    const { value, citations } = extract(document, schema);
    expect(value).to.deep.equal({
      iban: 'DE89370400440532013000',
      invoice_number: 'Q-77',
      amount_due: 1234.5,
    });
    expect(citations.find(({ path }) => path === '/iban')).to.deep.include({
      by: 'codes',
      page: 1,
      bbox: code?.box,
    });
  });

  it('give no field for a project or a letter the reference of a payment', async () => {
    const bytes = await pdfWithCode(
      await codePng(EPC, 'QRCode'),
      'Invoice number: Q-77\nProject number: P-2044\nYour reference: AB-12',
    );
    const text = { type: 'string' };
    const properties = { iban: text, project_number: text, your_reference: text, case_number: text };
    const schema = { type: 'object', properties };
    const asked = { file: fileOf(bytes, 'i.pdf'), schema };
    const document = await withAskedCodes(asked, await read(bytes, 'i.pdf'), never);
    expect(extract(document, schema).value).to.deep.equal({
      iban: 'DE89370400440532013000',
      project_number: 'P-2044',
      your_reference: 'AB-12',
    });
  });

  it('that contradict each other say nothing', async () => {
    const other = EPC.replace('EUR1234.50', 'EUR2.00');
    const png = await pageWith([
      { png: await codePng(EPC, 'QRCode', 5), left: 60, top: 100 },
      { png: await codePng(other, 'QRCode', 5), left: 640, top: 100 },
    ]);
    const schema = {
      type: 'object',
      properties: { iban: { type: 'string' }, amount_due: { type: 'number' } },
    };
    const document = await withAskedCodes(
      { file: fileOf(png, 'i.png'), schema },
      await read(png, 'i.png'),
      never,
    );
    expect(extract(document, schema).value).to.deep.equal({ iban: 'DE89370400440532013000' });
  });

  it('are left where there is no time, and that is said', async () => {
    const png = await pageWith([{ png: await codePng('hello', 'QRCode'), left: 100, top: 100 }]);
    const { codes, warnings } = await withCodes(fileOf(png, 'a.png'), await pictured(png), () => true);
    expect(codes).to.deep.equal([]);
    expect(warnings.map(({ code }) => code)).to.include('codes_not_read');
  });

  it('of pages that cannot be drawn cost themselves alone, and that is said', async () => {
    const bytes = await pdfWithCode(await codePng(EPC, 'QRCode'), 'Invoice number: Q-77');
    const document = await read(bytes, 'i.pdf');
    const broken = fileOf(Buffer.from('%PDF-1.7 and nothing else'), 'i.pdf');
    const text = { type: 'string' };
    const schema = { type: 'object', properties: { iban: text, invoice_number: text } };
    for (const isLate of [never, () => true]) {
      const all = await withCodes(broken, document, isLate);
      expect(all.warnings.at(-1)).to.deep.include({ code: 'codes_not_read', pages: [1] });
      const asked = await withAskedCodes({ file: broken, schema }, document, isLate);
      expect(asked.warnings.at(-1)).to.deep.include({ code: 'codes_not_read', pages: [1] });
      expect(extract(asked, schema).value).to.deep.equal({ invoice_number: 'Q-77' });
    }
  });

  it('are counted up to a limit, and keep what they say', async () => {
    const png = await codePng('x\u0000\u001dy', 'QRCode', 2);
    const { width, height } = await sharp(png).metadata();
    const many = Array.from({ length: 600 }, (_, at) => ({
      png,
      left: (width + 4) * (at % 20),
      top: (height + 4) * Math.floor(at / 20),
    }));
    const codes = await codesIn(
      await pageWith(many.filter(({ left, top }) => left < 1180 && top < 1690)),
      'many.png',
    );
    expect(codes.length).to.be.within(1, 255);
    for (const { text } of codes) expect(text).to.equal('x\u0000\u001dy');
    const long = 'y'.repeat(2_900);
    const [one] = await codesIn(
      await pageWith([{ png: await codePng(long, 'QRCode', 4), left: 100, top: 100 }]),
      'l.png',
    );
    expect(one?.text).to.equal(long);
  });
});

describe('lines for machines', () => {
  const PASSPORT =
    'P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10';
  const CARD =
    'I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<';
  const zones = (text: string) => codesIn(Buffer.from(`Some words.\n\n${text}\n`), 'a.txt');

  it('are read of passports and cards', async () => {
    const [passport] = await zones(PASSPORT);
    expect(passport).to.deep.include({ format: 'mrz', text: PASSPORT, page: 1, box: null });
    expect(passport?.parsed).to.include({
      zone: 'td3',
      document_number: 'L898902C3',
      last_name: 'ERIKSSON',
      first_name: 'ANNA MARIA',
      nationality: 'UTO',
      birth_date: '1974-08-12',
      expiry_date: '2012-04-15',
      sex: 'female',
    });
    const [card] = await zones(CARD);
    expect(card?.parsed).to.include({ zone: 'td1', document_number: 'D23145890', nationality: 'UTO' });
  });

  it('say nothing where a check digit does not agree, and are not seen in other lines', async () => {
    const [wrong] = await zones(PASSPORT.replace('L898902C36', 'L898902C37'));
    expect(wrong?.parsed).to.equal(undefined);
    expect(await zones('A'.repeat(44))).to.deep.equal([]);
    expect(await zones(`${'1'.repeat(30)}\n`.repeat(3))).to.deep.equal([]);
  });

  it('are sources of exact values', async () => {
    const schema = {
      type: 'object',
      properties: { passport_number: { type: 'string' }, birth_date: { type: 'string', format: 'date' } },
    };
    const bytes = Buffer.from(`Passport\n\n${PASSPORT}\n`);
    const document = await withAskedCodes(
      { file: fileOf(bytes, 'a.txt'), schema },
      await read(bytes, 'a.txt'),
      never,
    );
    const { value, citations } = extract(document, schema);
    expect(value).to.deep.equal({ passport_number: 'L898902C3', birth_date: '1974-08-12' });
    expect(citations.map(({ by }) => by)).to.deep.equal(['codes', 'codes']);
  });

  it('are sources of a document that was read before, whole or in parts', async () => {
    const schema = { type: 'object', properties: { passport_number: { type: 'string' } } };
    const document = await read(Buffer.from(`Passport\n\n${PASSPORT}\n`), 'a.txt');
    const means = { tell: () => undefined, open: openFile, isLate: never };
    const packed = serialize(document);
    const work = { schema, settings: { citations: true } } as const;
    const whole = await runJob({ kind: 'extractFrom', packed, ...work }, means);
    expect(whole).to.have.nested.property('extraction.value.passport_number', 'L898902C3');
    const part = await runJob({ kind: 'extractPart', packed, lead: undefined, ...work }, means);
    const { value } = deserialize('part' in part ? part.part : Buffer.of()) as {
      readonly value: unknown;
    };
    expect(value).to.deep.equal({ passport_number: 'L898902C3' });
  });
});
