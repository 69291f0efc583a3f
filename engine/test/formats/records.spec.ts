import { expect } from 'chai';
import { openFile } from '../../formats/readDocument.ts';
import { markdownOf } from '../../document/markdown.ts';

const read = async (text: string, fileName: string | null = null) => {
  const opened = await openFile({
    bytes: Buffer.from(text),
    fileName,
    effort: 'standard',
    pagesMax: 100,
    languages: [],
  });
  if (opened.kind !== 'open') throw new Error(JSON.stringify(opened));
  const result = await opened.read();
  if (result.kind !== 'ok') throw new Error(result.kind);
  return { pages: opened.pages, mimeType: opened.mimeType, markdown: markdownOf(result.document) };
};
const card = (...lines: readonly string[]): string =>
  ['BEGIN:VCARD', 'VERSION:3.0', ...lines, 'END:VCARD', ''].join('\r\n');
const calendar = (...lines: readonly string[]): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n');
const event = (...lines: readonly string[]): string => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\r\n');

describe('contacts', () => {
  it('are lines of labels and values, without what nobody reads', async () => {
    const text = card(
      'UID:17',
      'FN:Mara Lind',
      'ORG:Lind & Sons\\, Ltd;Sales',
      'item1.TEL;TYPE=WORK,VOICE:+1 555 0100',
      'EMAIL;TYPE=INTERNET:mara@example.com',
      'ADR;TYPE=HOME:;;1 Main Street;Springfield;;12345;Utopia',
      'BDAY:19800203',
      'PHOTO;ENCODING=b;TYPE=JPEG:AAAA',
      'NOTE:a long\\nno',
      ' te',
    );
    const { mimeType, markdown } = await read(text);
    expect(mimeType).to.equal('text/vcard');
    expect(markdown.split('\n\n').map((line) => line.trim())).to.deep.equal([
      'Name: Mara Lind',
      'Organization: Lind & Sons, Ltd, Sales',
      'Email: mara@example.com',
      'Work phone: +1 555 0100',
      'Home address: 1 Main Street, Springfield, 12345, Utopia',
      'Birthday: 1980-02-03',
      'Note: a long\nnote',
    ]);
  });

  it('of version 2.1 are read, and a name in parts is put together', async () => {
    const text = card(
      'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BC=\nller;J=C3=B6rg;;Dr.',
      'TEL;CELL;FAX:1',
    );
    expect((await read(text)).markdown).to.equal('Name: Dr. Jörg Müller\n\nMobile Fax phone: 1\n');
  });

  it('are a table where they are several', async () => {
    const text = card('FN:A', 'TEL:1', 'TEL:2') + card('FN:B', 'EMAIL:b@example.com');
    expect((await read(text)).markdown).to.equal(
      '| Name | Phone | Email |\n| --- | --- | --- |\n| A | 1; 2 |  |\n| B |  | b@example.com |\n',
    );
  });

  it('have the pages of what is read of them', async () => {
    expect((await read(card('FN:A', `PHOTO;ENCODING=b:${'A'.repeat(50_000)}`))).pages).to.equal(1);
    expect((await read(card('FN:A', `NOTE:${'word '.repeat(1500)}`))).pages).to.equal(3);
  });
});

describe('calendars', () => {
  const meeting = event(
    'UID:1@example.com',
    'DTSTART;TZID=Europe/Berlin:20260203T100000',
    'DTEND:20260203T113000Z',
    'SUMMARY:Plan\\, then do',
    'ORGANIZER;CN="Lind, Mara":mailto:mara@example.com',
    'ATTENDEE:mailto:bob@example.com',
    ['BEGIN:VALARM', 'DESCRIPTION:ring', 'END:VALARM'].join('\r\n'),
  );

  it('show an event as lines of labels and values', async () => {
    const { mimeType, markdown } = await read(calendar('X-WR-CALNAME:Work', meeting));
    expect(mimeType).to.equal('text/calendar');
    expect(markdown.trim().split('\n\n')).to.deep.equal([
      '# Work',
      'Summary: Plan, then do',
      'Start: 2026-02-03 10:00 Europe/Berlin',
      'End: 2026-02-03 11:30 UTC',
      'Organizer: Lind, Mara \\<mara@example.com>',
      'Attendee: bob@example.com',
      'UID: 1@example.com',
    ]);
  });

  it('show several as a table', async () => {
    const text = calendar(event('SUMMARY:A', 'DTSTART;VALUE=DATE:20260203'), event('SUMMARY:B'));
    expect((await read(text)).markdown).to.equal(
      '| Summary | Start |\n| --- | --- |\n| A | 2026-02-03 |\n| B |  |\n',
    );
  });

  it('that hold nothing, or never end, are read as far as they go', async () => {
    expect((await read(calendar())).pages).to.equal(1);
    expect((await read('BEGIN:VCALENDAR\n'.repeat(100) + 'BEGIN:VEVENT\nSUMMARY:A')).pages).to.equal(1);
  });
});

describe('tables whose columns are parted by tabs', () => {
  const rows = 'item\tcount\tprice\npear\t2\t1.50\n\nplum\t3\t0.20\n';
  const table = '| item | count | price |\n| --- | --- | --- |\n| pear | 2 | 1.50 |\n| plum | 3 | 0.20 |\n';

  it('are told by what they hold, whatever their name', async () => {
    expect((await read(rows)).markdown).to.equal(table);
    expect((await read(rows, 'export.txt')).markdown).to.equal(table);
    expect((await read(rows, 'EXPORT.XLS')).markdown).to.equal(table);
  });

  it('are none where lines have other columns, or only two', async () => {
    expect((await read('a\tb\tc\nd\te\tf\nand a line\n')).mimeType).to.equal('text/plain');
    expect((await read('Name\tMara\nTown\tLyon\nYear\t1999\n')).mimeType).to.equal('text/plain');
    expect((await read('\tif a:\t\n\t\tb\n\t\tc\n')).mimeType).to.equal('text/plain');
  });
});
