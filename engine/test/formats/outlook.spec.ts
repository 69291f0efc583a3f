import { expect } from 'chai';
import { openMsg } from '../../formats/mail/openMsg.ts';
import { readFileAsDocument } from '../../formats/readDocument.ts';
import { sniff } from '../../formats/sniff.ts';
import { markdownBy, openedBy } from '../support/officeFiles.ts';
import { msg, type MsgContent } from '../support/outlookFiles.ts';

/** The texts of the blocks of a message and of what is attached to it, then the warnings. */
async function read(bytes: Buffer, fileName = 'a.msg'): Promise<readonly string[]> {
  const file = { bytes, fileName, effort: 'fast' as const, pagesMax: 100, languages: [] };
  const result = await readFileAsDocument(file);
  if (result.kind !== 'ok') return [result.kind];
  const { pages, warnings } = result.document;
  const blocks = pages.flatMap((page) => page.blocks);
  return [
    ...blocks.map((block) => ('text' in block ? block.text : block.kind)),
    ...warnings.map(({ message }) => message),
  ];
}

describe("Outlook's messages", () => {
  const bytes = msg({
    properties: {
      '0037': ' Order 4711 ',
      '0C1A': 'Ann Ames',
      '5D01': 'ann@example.com',
      '1000': 'Hello,\r\n\r\nplease send two.',
    },
    recipients: [
      { kind: 1, properties: { '3001': 'Bob', '39FE': 'bob@example.com' } },
      { kind: 2, properties: { '3001': 'carol@example.com', '39FE': 'carol@example.com' } },
    ],
    attachments: [{ '3707': 'list.csv', '3701': Buffer.from('a,b\n1,2') }],
  });

  it('are told by their bytes', async () => {
    expect(await sniff(bytes, null)).to.include({ kind: 'known', format: 'msg' });
  });

  it('have headers and body as mails have', async () => {
    expect(await markdownBy(openMsg, bytes)).to.equal(
      '# Order 4711\n\nFrom: Ann Ames (ann@example.com)\nTo: Bob (bob@example.com)\nCc: carol@example.com\n\n' +
        'Hello,\n\nplease send two.\n',
    );
  });

  it('name the attachments that cannot be read', async () => {
    const opened = await openedBy(openMsg, bytes);
    expect('warnings' in opened && opened.warnings.map(({ message }) => message)).to.deep.equal([
      'Attachment list.csv: ',
    ]);
  });

  it('have their HTML body where there is one', async () => {
    const html = Buffer.from('<html><body><p>Dear <b>Bob</b></p></body></html>');
    const mail = msg({ properties: { '0037': 'Hi', '1000': 'Dear Bob', '1013': html } });
    expect(await markdownBy(openMsg, mail)).to.equal('# Hi\n\nDear **Bob**\n');
  });

  it('leave out what has another type than it should', async () => {
    const odd = Buffer.from('odd');
    const properties = { '0037': odd, '0C1A': odd, '1000': odd, '0C1F': odd };
    const recipients = [{ kind: 1 as const, properties: { '3001': odd, '39FE': 'bob@example.com' } }];
    const mail = msg({ properties, recipients, attachments: [{ '3707': odd, '370E': odd, '3701': odd }] });
    expect(await markdownBy(openMsg, mail)).to.equal('To: bob@example.com\n');
  });

  it('have their RTF body where there is no other', async () => {
    // The first example of MS-OXRTFCP.
    const packed = Buffer.from(
      '2d0000002b0000004c5a4675f1c5c7a703000a00726370673132354232' +
        '0af32068656c0900206277' +
        '05b06c647d0a800fa0',
      'hex',
    );
    expect(await markdownBy(openMsg, msg({ properties: { '0037': 'Hi', '1009': packed } }))).to.equal(
      '# Hi\n\nhello world\n',
    );
    const rtf = Buffer.from(String.raw`{\rtf1\ansi some {\b bold} text\par}`);
    const head = Buffer.alloc(16);
    head.writeUInt32LE(rtf.length, 4);
    head.write('MELA', 8, 'latin1');
    const plain = Buffer.concat([head, rtf]);
    expect(await markdownBy(openMsg, msg({ properties: { '0037': 'Hi', '1009': plain } }))).to.equal(
      '# Hi\n\nsome **bold** text\n',
    );
    for (let at = 16; at < packed.length; at += 1) {
      const changed = Buffer.from(packed);
      changed.writeUInt8(packed.readUInt8(at) ^ 0x55, at);
      expect(await openedBy(openMsg, msg({ properties: { '0037': 'Hi', '1009': changed } }))).to.be.an(
        'object',
      );
    }
  });

  it('are read beside attachments that are only named, and messages whose attachments are', async () => {
    const named = { '3707': 'link.dat' };
    expect(await read(msg({ properties: { '1000': 'body' }, attachments: [named] }))).to.deep.equal([
      'body',
      'Attachment link.dat: The file is empty.',
    ]);
    const inner = { properties: { '0037': 'Inner', '1000': 'inner body' }, attachments: [named] };
    const outer = msg({ properties: { '1000': 'body' }, attachments: [{ message: inner, properties: {} }] });
    expect(await read(outer)).to.deep.equal([
      'body',
      'Inner.msg',
      'Inner',
      'inner body',
      'Attachment link.dat: The file is empty.',
    ]);
  });

  it('are read three deep, and what is deeper is named', async () => {
    let message: MsgContent = { properties: { '0037': 'L0', '1000': 'b0' } };
    for (let depth = 1; depth <= 20; depth += 1)
      message = {
        properties: { '0037': `L${depth}`, '1000': `b${depth}` },
        attachments: [{ message, properties: {} }],
      };
    const texts = await read(msg(message));
    expect(texts).to.include.members(['b20', 'b19', 'b18', 'b17']);
    expect(texts.at(-1)).to.equal('Attachment L16.msg: too many attachments, or too deep.');
  });

  const sector = (number: number): number => (number + 1) * 512;
  const leading = (at: number, to: number): Buffer => {
    const changed = Buffer.from(bytes);
    changed.writeInt32LE(to, at);
    return changed;
  };

  it('are refused where an entry says that it has more bytes than the file, before room is made for them', async () => {
    const entries = sector(bytes.readInt32LE(48));
    const stream = [0, 1, 2, 3].map((entry) => entries + 128 * entry).find((at) => bytes[at + 66] === 2) ?? 0;
    for (const size of [bytes.length + 1, 2 ** 28, -1]) {
      const before = process.memoryUsage().arrayBuffers;
      expect(await openedBy(openMsg, leading(stream + 120, size))).to.have.property('kind', 'unreadable');
      expect(process.memoryUsage().arrayBuffers - before).to.be.below(2 ** 24);
    }
  });

  it('are refused where sectors or entries lead back to themselves', async () => {
    const table = sector(bytes.readInt32LE(76));
    const entries = bytes.readInt32LE(48);
    const small = sector(bytes.readInt32LE(60));
    const circles = [
      leading(table + 4 * entries, entries),
      leading(small, 0),
      leading(sector(entries) + 128 + 72, 1),
      leading(sector(entries) + 76, 0),
    ];
    for (const changed of circles)
      expect(await openedBy(openMsg, changed)).to.have.property('kind', 'unreadable');
  });

  it('are refused when damaged, and come to an end', async () => {
    for (const end of [600, 1500, bytes.length - 900])
      expect(await openedBy(openMsg, bytes.subarray(0, end))).to.have.property('kind');
  });
});

describe("Outlook's own form of a mail, winmail.dat", () => {
  const u32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value >>> 0);
    return bytes;
  };
  const attribute = (level: number, name: number, data: Buffer): Buffer =>
    Buffer.concat([Buffer.from([level]), u32(name), u32(data.length), data, Buffer.alloc(2)]);
  const fill = (data: Buffer): Buffer => Buffer.concat([data, Buffer.alloc((4 - (data.length % 4)) % 4)]);
  const property = (id: number, type: number, data: Buffer): Buffer =>
    Buffer.concat([u32(type + id * 0x10000), u32(1), u32(data.length), fill(data)]);
  const NUMBER = Buffer.concat([u32(0x00170003), u32(1)]);
  const named = Buffer.concat([
    u32(0x8001001f),
    Buffer.alloc(16),
    u32(1),
    u32(6),
    fill(Buffer.from('abc', 'utf16le')),
    Buffer.alloc(4),
  ]);
  const properties = (...all: readonly Buffer[]): Buffer => Buffer.concat([u32(all.length), ...all]);
  const tnef = (...attributes: readonly Buffer[]): Buffer =>
    Buffer.concat([
      u32(0x223e9f78),
      Buffer.alloc(2),
      attribute(1, 0x00069007, Buffer.concat([u32(1252), u32(0)])),
      ...attributes,
    ]);
  const utf16 = (text: string): Buffer => Buffer.from(`${text}\0`, 'utf16le');
  const attached = (name: string, data: Buffer): readonly Buffer[] => [
    attribute(2, 0x00069002, Buffer.alloc(14)),
    attribute(2, 0x00018010, Buffer.from('SHORT~1.TXT\0')),
    attribute(2, 0x0006800f, data),
    attribute(2, 0x00069005, properties(property(0x3707, 0x1f, utf16(name)))),
  ];
  const whole = tnef(
    attribute(1, 0x00018004, Buffer.from('Caf\xe9 order\0', 'latin1')),
    attribute(
      1,
      0x00069003,
      properties(
        NUMBER,
        property(0x0c1a, 0x1e, Buffer.from('Ann Ames\0')),
        property(0x1000, 0x1f, utf16('Please send two.')),
      ),
    ),
    ...attached('list of goods.txt', Buffer.from('Two boats.')),
  );

  it('has subject, sender, body and attachments by their long names', async () => {
    expect(await read(whole)).to.deep.equal([
      'Café order',
      'From: Ann Ames',
      'Please send two.',
      'list of goods.txt',
      'Two boats.',
    ]);
  });

  it('is read within a mail', async () => {
    const mail = [
      'From: ann@example.com',
      'To: bob@example.com',
      'Subject: Hi',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: application/ms-tnef; name=winmail.dat',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment; filename=winmail.dat',
      '',
      whole.toString('base64'),
      '--b--',
      '',
    ].join('\r\n');
    const texts = await read(Buffer.from(mail), 'a.eml');
    expect(texts).to.include.members(['Please send two.', 'Two boats.']);
  });

  it('is read as far as it goes where it is cut short', async () => {
    for (let end = 8; end < whole.length; end += 7)
      expect(await read(whole.subarray(0, end))).to.be.an('array');
    const cut = tnef(
      attribute(1, 0x00069003, properties(named, property(0x1000, 0x1f, utf16('Please send two.')))),
    );
    expect(await read(cut)).to.include('Please send two.');
  });
});
