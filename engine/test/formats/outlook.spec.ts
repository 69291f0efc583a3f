import { expect } from 'chai';
import { openMsg } from '../../formats/mail/openMsg.ts';
import { sniff } from '../../formats/sniff.ts';
import { markdownBy, openedBy } from '../support/officeFiles.ts';
import { msg } from '../support/outlookFiles.ts';

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

  it('are refused when damaged, and come to an end', async () => {
    for (const end of [600, 1500, bytes.length - 900])
      expect(await openedBy(openMsg, bytes.subarray(0, end))).to.have.property('kind');
  });
});
