import { expect } from 'chai';
import iconv from 'iconv-lite';
import { sniff } from '../../adapters/parsers/sniff.ts';
import { plainPdf } from '../support/pdfs.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');

describe('telling the type of a file', () => {
  it('knows a PDF by its bytes, whatever its name', async () => {
    expect((await sniff(plainPdf(['a']), 'notes.txt')).kind).to.equal('pdf');
  });

  it('knows a PDF that begins with something else', async () => {
    expect((await sniff(Buffer.concat([Buffer.from('junk\n'), plainPdf(['a'])]), null)).kind).to.equal('pdf');
  });

  it('takes a text for Markdown by its name only', async () => {
    expect(await sniff(Buffer.from('# a'), 'a.MD')).to.include({ mimeType: 'text/markdown', text: '# a' });
    expect(await sniff(Buffer.from('# a'), 'a.txt')).to.include({ mimeType: 'text/plain', text: '# a' });
    expect(await sniff(Buffer.from('# a'), null)).to.include({ mimeType: 'text/plain' });
  });

  const encodings: readonly (readonly [string, Buffer])[] = [
    ['UTF-8', Buffer.from('Größe für Élise')],
    ['UTF-8 with a mark', iconv.encode('Größe für Élise', 'utf8', { addBOM: true })],
    ['UTF-16LE with a mark', iconv.encode('Größe für Élise', 'utf16le', { addBOM: true })],
    ['UTF-16BE with a mark', iconv.encode('Größe für Élise', 'utf16be', { addBOM: true })],
    ['UTF-16LE without a mark', iconv.encode('Größe für Élise', 'utf16le')],
    ['UTF-16BE without a mark', iconv.encode('Größe für Élise', 'utf16be', { addBOM: false })],
    ['Windows-1252', iconv.encode('Größe für Élise', 'windows-1252')],
  ];
  for (const [name, bytes] of encodings)
    it(`reads ${name}`, async () => {
      expect(await sniff(bytes, 'a.txt')).to.include({ kind: 'text', text: 'Größe für Élise' });
    });

  it('reads Shift-JIS', async () => {
    const text = '請求書番号と合計金額をお知らせします。日本語の文章です。';
    expect(await sniff(iconv.encode(text, 'shift_jis'), 'a.txt')).to.include({ text });
  });

  it('normalises line ends and composition', async () => {
    expect(await sniff(Buffer.from('a\r\nb\rc e\u0301'), 'a.txt')).to.include({ text: 'a\nb\nc é' });
  });

  it('refuses what it cannot read, and says what it was', async () => {
    const sniffed = await sniff(PNG, 'a.pdf');
    expect(sniffed.kind).to.equal('unsupported');
    expect(sniffed).to.have.property('detail').that.includes('image/png');
  });

  it('takes bytes that are no text for damaged when the name says PDF, else for unsupported', async () => {
    const garbage = Buffer.from(Array.from({ length: 999 }, (_, i) => (i * 73 + 11) % 256));
    expect((await sniff(garbage, 'a.pdf')).kind).to.equal('damaged');
    expect((await sniff(garbage, null)).kind).to.equal('unsupported');
  });

  it('takes no bytes, and nothing but white space, for empty', async () => {
    expect((await sniff(Buffer.alloc(0), 'a.pdf')).kind).to.equal('empty');
    expect((await sniff(Buffer.from(' \n\t '), 'a.txt')).kind).to.equal('empty');
  });
});
