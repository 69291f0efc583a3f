import { expect } from 'chai';
import { zlibSync } from 'fflate';
import iconv from 'iconv-lite';
import { readFileAsDocument } from '../../formats/readDocument.ts';
import { markdownOf } from '../../document/markdown.ts';
import { openFile } from '../../formats/readDocument.ts';
import { msg } from '../support/outlookFiles.ts';

async function read(
  bytes: Buffer,
  fileName: string,
): Promise<{ text: string; pages: number; warnings: string }> {
  const file = { bytes, fileName, effort: 'fast' as const, pagesMax: 100, languages: [] };
  const result = await readFileAsDocument(file);
  if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
  const { pages, warnings } = result.document;
  const text = markdownOf(result.document);
  return { text, pages: pages.length, warnings: warnings.map(({ message }) => message).join(' ') };
}

const mail = (headers: readonly string[], body: string): Buffer =>
  Buffer.from(['From: a@example.org', 'Subject: Order', ...headers, '', body].join('\r\n'));

/** A node of DER; without a length where `open`, as programs write that do not know it yet. */
const node = (tag: number, content: Buffer, open = false): Buffer => {
  if (open) return Buffer.concat([Buffer.from([tag, 0x80]), content, Buffer.from([0, 0])]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([Buffer.from([tag, 0x84]), length, content]);
};
const all = (...parts: readonly Buffer[]): Buffer => Buffer.concat(parts);
const id = (hex: string): Buffer => all(Buffer.from([0x06, hex.length / 2]), Buffer.from(hex, 'hex'));
const [DATA, SIGNED, COMPRESSED, ENVELOPED] = [
  '2a864886f70d010701',
  '2a864886f70d010702',
  '2a864886f70d0109100109',
  '2a864886f70d010703',
];
const VERSION = Buffer.from([0x02, 0x01, 0x01]);
const NO_ALGORITHMS = Buffer.from([0x31, 0x00]);

/** An envelope around a file, its bytes in one piece or in pieces of ten. */
function envelope(kind: string, content: Buffer, inPieces = false): Buffer {
  const pieces = Array.from({ length: Math.ceil(content.length / 10) }, (_, i) =>
    node(0x04, content.subarray(i * 10, i * 10 + 10)),
  );
  const octets = inPieces ? node(0x24, all(...pieces), true) : node(0x04, content);
  const inner = node(0x30, all(id(DATA), node(0xa0, octets, inPieces)), inPieces);
  const algorithm = kind === COMPRESSED ? node(0x30, id('2a864886f70d0109100308')) : NO_ALGORITHMS;
  const body = node(0x30, all(VERSION, algorithm, inner), inPieces);
  return node(0x30, all(id(kind), node(0xa0, body, inPieces)), inPieces);
}

const INNER = Buffer.from(
  [
    'Content-Type: multipart/mixed; boundary=M',
    '',
    '--M',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Please deliver 12 pallets. Grüße',
    '--M',
    'Content-Type: text/csv; name=items.csv',
    'Content-Disposition: attachment; filename=items.csv',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from('item;qty\nPallet;12\n').toString('base64'),
    '--M--',
    '',
  ].join('\r\n'),
);
const sealed = (envelopeBytes: Buffer): Buffer =>
  mail(
    [
      'MIME-Version: 1.0',
      'Content-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m',
      'Content-Transfer-Encoding: base64',
    ],
    envelopeBytes.toString('base64').replace(/.{76}/g, '$&\r\n'),
  );
const READ = /Please deliver 12 pallets\. Grüße[\s\S]*## items\.csv[\s\S]*\| Pallet \| 12 \|/;

describe('signed mails', () => {
  const kinds: readonly (readonly [string, Buffer])[] = [
    ['in one piece', envelope(SIGNED, INNER)],
    ['in pieces without lengths', envelope(SIGNED, INNER, true)],
    ['in two envelopes', envelope(SIGNED, sealedPart(envelope(SIGNED, INNER)))],
    ['compressed', envelope(COMPRESSED, Buffer.from(zlibSync(INNER)))],
  ];
  for (const [name, bytes] of kinds)
    it(`have the text and the attachments that are within the signature, ${name}`, async () => {
      const { text, pages, warnings } = await read(sealed(bytes), 'a.eml');
      expect(text).to.match(READ);
      expect({ pages, warnings }).to.deep.equal({ pages: 2, warnings: '' });
    });

  it('have them as Outlook keeps them, and are counted by what is read', async () => {
    const head = 'Content-Type: multipart/signed; boundary=S\r\n\r\n';
    const signed = `${head}--S\r\n${INNER.toString()}\r\n--S\r\n${SIGNATURE}--S--\r\n`;
    for (const bytes of [Buffer.from(signed), envelope(SIGNED, INNER)]) {
      const file = msg({
        properties: { '0037': 'Order', '001A': 'IPM.Note.SMIME.MultipartSigned' },
        attachments: [{ '3707': 'smime.p7m', '3701': bytes }],
      });
      const { text, pages } = await read(file, 'a.msg');
      expect(text).to.match(READ);
      expect(pages).to.equal(2);
    }
  });

  it('show no signature, of any kind', async () => {
    for (const type of ['application/pkcs7-signature', 'application/pgp-signature']) {
      const signature = SIGNATURE.replace(/application\/[\w-]+/, type);
      const body = `--S\r\nContent-Type: text/plain\r\n\r\nTwo pallets.\r\n--S\r\n${signature}--S--`;
      const { text, warnings } = await read(
        mail(['Content-Type: multipart/signed; boundary=S'], body),
        'a.eml',
      );
      expect(text).to.equal('# Order\n\nFrom: a@example.org\n\nTwo pallets.\n');
      expect(warnings).to.equal('');
    }
    const inline =
      '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nTwo pallets.\n' +
      '-----BEGIN PGP SIGNATURE-----\n\niQEz\n-----END PGP SIGNATURE-----';
    expect((await read(mail([], inline), 'a.eml')).text).to.match(/example\.org\n\nTwo pallets\.\n$/);
  });

  it('say so where they are encrypted', async () => {
    const { text, warnings } = await read(sealed(envelope(ENVELOPED, INNER)), 'a.eml');
    expect(text).to.equal('# Order\n\nFrom: a@example.org\n');
    expect(warnings).to.contain('encrypted');
    const armoured = await read(
      mail([], '-----BEGIN PGP MESSAGE-----\n\nhQEM\n-----END PGP MESSAGE-----'),
      'a.eml',
    );
    expect(armoured.text).not.to.contain('hQEM');
    expect(armoured.warnings).to.contain('encrypted');
  });
});

const SIGNATURE =
  'Content-Type: application/pkcs7-signature; name=smime.p7s\r\nContent-Transfer-Encoding: base64\r\n\r\nBwcHBwcH\r\n';

function sealedPart(bytes: Buffer): Buffer {
  return Buffer.from(
    'Content-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m\r\n' +
      `Content-Transfer-Encoding: base64\r\n\r\n${bytes.toString('base64')}\r\n`,
  );
}

describe('files that another file signs', () => {
  it('are read as if they came by themselves, in binary or as base64', async () => {
    const csv = envelope(SIGNED, Buffer.from('item;qty\nPallet;12\n'), true);
    for (const bytes of [csv, Buffer.from(csv.toString('base64'))])
      expect((await read(bytes, 'list.csv.p7m')).text).to.contain('| Pallet | 12 |');
  });

  it('are refused with the reason where they are encrypted, cut, or not there', async () => {
    const open = (bytes: Buffer): Promise<unknown> =>
      openFile({ bytes, fileName: 'a.p7m', effort: 'fast', pagesMax: 100, languages: [] });
    const whole = envelope(SIGNED, INNER);
    expect(await open(envelope(ENVELOPED, INNER)))
      .to.have.property('detail')
      .that.contains('encrypted');
    expect(await open(whole.subarray(0, whole.length - 40))).to.include({ kind: 'unreadable' });
  });
});

describe('mails', () => {
  it('have the date that their sender saw, whatever the zone', async () => {
    const dates: readonly (readonly [string, string])[] = [
      ['Wed, 05 Mar 2025 00:30:00 +0100', '2025-03-05T00:30:00+01:00'],
      ['Tue, 4 Mar 2025 23:30:00 -0800 (PST)', '2025-03-04T23:30:00-08:00'],
      ['4 Mar 2025 23:30 EST', '2025-03-04T23:30:00-05:00'],
      ['Tue, 04 Mar 2025 09:15:00 GMT', '2025-03-04T09:15:00.000Z'],
      ['Tue, 04 Mar 2025 09:15:00 +0530', '2025-03-04T09:15:00+05:30'],
    ];
    for (const [sent, shown] of dates)
      expect((await read(mail([`Date: ${sent}`], 'x'), 'a.eml')).text).to.contain(`Date: ${shown}\n`);
    const headers = 'Received: by x\r\nDate: Wed, 05 Mar 2025 00:30:00 +0100\r\nSubject: x';
    const file = msg({ properties: { '0037': 'x', '007D': headers, '1000': 'y' } });
    expect((await read(file, 'a.msg')).text).to.contain('Date: 2025-03-05T00:30:00+01:00');
  });

  it('have their letters where nothing says in which encoding they are', async () => {
    const lines = (type: string): string =>
      [
        'From: Jörg <a@example.org>',
        'Subject: Angebot für Grünwald',
        ...(type === '' ? [] : [`Content-Type: ${type}`]),
        '',
        'Gültig: 1.250,00 €, “fest”',
      ].join('\r\n');
    for (const type of ['text/plain; charset=us-ascii', 'text/plain', '', 'text/plain; charset=windows-1252'])
      for (const encoding of ['windows-1252', 'utf-8']) {
        if (type.includes('1252') && encoding === 'utf-8') continue;
        const { text } = await read(iconv.encode(lines(type), encoding), 'a.eml');
        expect(text, `${type} ${encoding}`).to.match(/^# Angebot für Grünwald\n\nFrom: Jörg \(/);
        expect(text, `${type} ${encoding}`).to.contain('Gültig: 1.250,00 €, “fest”');
      }
    const polish = 'Subject: Zażółć\r\nFrom: a@example.org\r\nDate: x\r\n\r\nŁąka i Świt, gęślą jaźń';
    expect((await read(iconv.encode(polish, 'windows-1250'), 'a.eml')).text).to.contain(
      'Łąka i Świt, gęślą jaźń',
    );
  });

  const alternatives = (plain: string, html: string): Buffer =>
    mail(
      ['MIME-Version: 1.0', 'Content-Type: multipart/alternative; boundary=A'],
      [
        '--A',
        'Content-Type: text/plain',
        '',
        plain,
        '--A',
        'Content-Type: text/html',
        '',
        html,
        '--A--',
      ].join('\r\n'),
    );

  it('have their plain text where the HTML says nothing of it, and the HTML else', async () => {
    const stub = '<p>Please view this message in a client that shows plain text.</p>';
    const plain = 'Booking code: QX7LPM\r\nFlight: KL1234 on 12 May 2025\r\nTotal: EUR 212.40';
    expect((await read(alternatives(plain, stub), 'a.eml')).text).to.contain('Booking code: QX7LPM');
    const full =
      '<p>Booking code: <b>QX7LPM</b></p><p>Flight: KL1234 on 12 May 2025</p><p>Total: EUR 212.40</p>';
    const hint = 'Your program shows no HTML. See https://example.org/?id=98765 for this message.';
    expect((await read(alternatives(plain, full), 'a.eml')).text).to.contain('**QX7LPM**');
    expect((await read(alternatives(hint, full), 'a.eml')).text).to.contain('**QX7LPM**');
  });
});
