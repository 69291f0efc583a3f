import { expect } from 'chai';
import { documentName, folderOf, mailAddressOf, partsOf } from '../../src/watch/mailbox.ts';

const attached = (part: string, type: string, filename?: string) => ({
  part,
  type,
  disposition: 'attachment',
  ...(filename !== undefined && { dispositionParameters: { filename } }),
});
const text = (part: string, type = 'text/plain') => ({ part, type });

describe('a watched mailbox', () => {
  it('is named by user, host and mailbox', () => {
    const { host, port, secure, user, mailbox } = mailAddressOf(
      'imaps://scans@example.org@imap.example.org/A%20B',
    );
    expect({ host, port, secure, user, mailbox }).to.deep.equal({
      host: 'imap.example.org',
      port: 993,
      secure: true,
      user: 'scans@example.org',
      mailbox: 'A B',
    });
    expect(mailAddressOf('imap://a@b').port).to.equal(143);
    expect(mailAddressOf('imaps://a@b:1993/inbox')).to.deep.include({ port: 1993, mailbox: 'INBOX' });
  });

  it('takes no password in its address', () => {
    for (const [given, says] of [
      ['imaps://a:secret@b/INBOX', 'WATCH_IMAP_PASSWORD'],
      ['imaps://b/INBOX', 'Name user and host'],
      ['imaps:', 'imaps://<user>@<host>/<mailbox>'],
    ] as const)
      expect(() => mailAddressOf(given)).to.throw(says);
  });

  it('has a folder of its own for results, whatever port and encryption it is reached by', () => {
    const folders = [
      'imaps://a@b/INBOX',
      'imap://a@b:1143/inbox',
      'imaps://a@c/INBOX',
      'imaps://d@b/INBOX',
      'imaps://a@b/..%2Finbox',
    ].map((given) => folderOf(mailAddressOf(given)));
    expect(folders[0]).to.equal(folders[1]);
    expect(new Set(folders).size).to.equal(4);
    for (const folder of folders) expect(folder).to.match(/^[\w-][\w.-]*$/);
  });

  it('sends attachments, and neither texts, signatures nor pictures within the text', () => {
    const related = {
      type: 'multipart/related',
      childNodes: [
        text('1.1', 'text/html'),
        { part: '1.2', type: 'image/png', parameters: { name: 'logo.png' } },
      ],
    };
    const structure = {
      type: 'multipart/mixed',
      childNodes: [
        related,
        attached('2', 'application/pdf', 'Rechnung März.pdf'),
        attached('3', 'text/csv'),
        attached('4', 'message/rfc822'),
        { part: '5', type: 'image/jpeg' },
        attached('6', 'application/pkcs7-signature', 'smime.p7s'),
        text('7', 'message/delivery-status'),
      ],
    };
    expect(partsOf(structure)).to.deep.equal([
      { part: '2', file_name: 'Rechnung März.pdf' },
      { part: '3', file_name: 'attachment.csv' },
      { part: '4', file_name: 'mail.eml' },
      { part: '5', file_name: 'attachment.jpeg' },
    ]);
  });

  it('sends a message itself that has no attachment, or is one', () => {
    const whole = [{ part: undefined, file_name: 'mail.eml' }];
    const alternative = { type: 'multipart/alternative', childNodes: [text('1'), text('2', 'text/html')] };
    for (const structure of [undefined, text('1'), { type: 'application/pdf' }, alternative])
      expect(partsOf(structure)).to.deep.equal(whole);
  });

  it('names documents so that each has a file of its own, which is not hidden', () => {
    const name = (part: string, file_name: string) => documentName('box/1', 7, { part, file_name });
    expect(name('2', 'Rechnung/../März.pdf')).to.equal('box/1/7/2-Rechnung_.._M_rz.pdf');
    expect(name('2', '.hidden')).to.equal('box/1/7/2-.hidden');
    expect(name('2', 'a.txt')).to.not.equal(name('3', 'a.txt'));
    expect(name('2', `${'a'.repeat(300)}.pdf`)).to.match(/^.{10,100}\.pdf$/);
  });
});
