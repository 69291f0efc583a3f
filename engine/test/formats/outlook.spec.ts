import { CFB } from '@e965/xlsx';
import { expect } from 'chai';
import { openMsg } from '../../formats/mail/openMsg.ts';
import { sniff } from '../../formats/sniff.ts';
import { markdownBy, openedBy } from '../support/officeFiles.ts';

interface Container {
  readonly FullPaths: readonly string[];
}
/** The package's own types leave this part open. */
const { utils, write } = CFB as {
  readonly utils: {
    readonly cfb_new: () => Container;
    readonly cfb_add: (container: Container, name: string, content: Buffer) => void;
  };
  readonly write: (container: Container, options: { readonly type: 'buffer' }) => Buffer;
};

type Properties = Readonly<Record<string, string | Buffer>>;

/** Texts are UTF-16 streams named by their property, other values bytes. */
function put(container: Container, folder: string, properties: Properties): void {
  for (const [tag, value] of Object.entries(properties)) {
    const [type, bytes] =
      typeof value === 'string' ? ['001F', Buffer.from(value, 'utf16le')] : ['0102', value];
    utils.cfb_add(container, `/${folder}__substg1.0_${tag}${type}`, bytes);
  }
}

interface MsgContent {
  readonly properties: Properties;
  readonly recipients?: readonly { readonly kind: 1 | 2; readonly properties: Properties }[];
  readonly attachments?: readonly Properties[];
}

/** A message as Outlook saves it (MS-OXMSG). */
function msg({ properties, recipients = [], attachments = [] }: MsgContent): Buffer {
  const container = utils.cfb_new();
  const header = Buffer.alloc(32);
  header.writeUInt32LE(recipients.length, 16);
  header.writeUInt32LE(attachments.length, 20);
  utils.cfb_add(container, '/__properties_version1.0', header);
  put(container, '', properties);
  for (const [index, { kind, properties: own }] of recipients.entries()) {
    const folder = `__recip_version1.0_#${index.toString(16).padStart(8, '0')}/`;
    const fixed = Buffer.alloc(8 + 16);
    fixed.writeUInt32LE(0x0c150003, 8);
    fixed.writeUInt32LE(kind, 16);
    utils.cfb_add(container, `/${folder}__properties_version1.0`, fixed);
    put(container, folder, own);
  }
  for (const [index, own] of attachments.entries()) {
    const folder = `__attach_version1.0_#${index.toString(16).padStart(8, '0')}/`;
    utils.cfb_add(container, `/${folder}__properties_version1.0`, Buffer.alloc(8));
    put(container, folder, own);
  }
  return write(container, { type: 'buffer' });
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

  it('are refused when damaged, and come to an end', async () => {
    for (const end of [600, 1500, bytes.length - 900])
      expect(await openedBy(openMsg, bytes.subarray(0, end))).to.have.property('kind');
  });
});
