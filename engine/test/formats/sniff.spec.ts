import { expect } from 'chai';
import { strToU8, zipSync } from 'fflate';
import iconv from 'iconv-lite';
import { sniff } from '../../formats/sniff.ts';
import { compoundOf, msg } from '../support/outlookFiles.ts';
import { plainPdf } from '../support/pdfs.ts';

const WAV = Buffer.from('RIFF\u0024\u0000\u0000\u0000WAVEfmt ', 'latin1');
const mail = 'From: a@example.com\nTo: b@example.com\nSubject: Hello\n\nText';

describe('telling the type of a file', () => {
  it('knows a PDF by its bytes, whatever its name', async () => {
    expect(await sniff(plainPdf(['a']), 'notes.txt')).to.include({ kind: 'known', format: 'pdf' });
  });

  it('knows a PDF that begins with something else', async () => {
    const bytes = Buffer.concat([Buffer.from('junk\n'), plainPdf(['a'])]);
    expect(await sniff(bytes, null)).to.include({ kind: 'known', format: 'pdf' });
  });

  it('takes a text for Markdown by its name only', async () => {
    expect(await sniff(Buffer.from('# a'), 'a.MD')).to.include({ format: 'markdown', text: '# a' });
    expect(await sniff(Buffer.from('# a'), 'a.txt')).to.include({ format: 'text', text: '# a' });
    expect(await sniff(Buffer.from('# a'), null)).to.include({ format: 'text' });
  });

  const texts: readonly (readonly [string, string, string | null, string])[] = [
    ['a mail', mail, null, 'eml'],
    ['a letter that begins with a label', 'Subject: Hello\n\nText', 'a.txt', 'text'],
    ['HTML without a name', '<!DOCTYPE html><p>a', null, 'html'],
    ['HTML by its name', '<p>a</p>', 'a.htm', 'html'],
    ['a text with a tag in it', 'a <b> c', 'a.txt', 'text'],
    ['RTF', '{\\rtf1 a}', null, 'rtf'],
    ['CSV by its name', 'a,b\n1,2', 'a.csv', 'csv'],
  ];
  for (const [name, text, fileName, format] of texts)
    it(`knows ${name} for ${format}`, async () => {
      expect(await sniff(Buffer.from(text), fileName)).to.include({ format });
    });

  it('knows a web page that is named for a workbook, in an old encoding too', async () => {
    const page = iconv.encode('<html><table><tr><td>Größe</td></tr></table></html>', 'windows-1252');
    expect(await sniff(page, 'REPORT.XLS')).to.include({ format: 'html' });
    expect(await sniff(iconv.encode('Größe', 'windows-1252'), 'REPORT.XLS')).to.include({ kind: 'damaged' });
  });

  it('knows a message whose text has the words that other files have for names', async () => {
    for (const word of ['booking', 'Book', 'Workbook', 'WordDocument', 'EncryptedPackage', 'Facebook']) {
      const bytes = msg({ properties: { '0037': word, '1000': `please ${word}\0${word} two rooms` } });
      expect(await sniff(bytes, null), word).to.include({ kind: 'known', format: 'msg' });
    }
  });

  it('knows a message by itself, not by a document that is embedded in it', async () => {
    const embedded = '/__attach_version1.0_#00000000/__substg1.0_3701000D';
    const bytes = compoundOf({
      '/__properties_version1.0': Buffer.alloc(32),
      [`${embedded}/WordDocument`]: Buffer.alloc(64),
      [`${embedded}/Workbook`]: Buffer.alloc(64),
    });
    expect(await sniff(bytes, null)).to.include({ format: 'msg' });
  });

  it('says of a HEIC picture what to send instead', async () => {
    const heic = Buffer.from('\u0000\u0000\u0000\u0018ftypheic\u0000\u0000\u0000\u0000mif1heic', 'latin1');
    const refused = await sniff(heic, 'IMG_1.HEIC');
    expect(refused.kind).to.equal('unsupported');
    expect('detail' in refused ? refused.detail : '').to.contain('JPEG');
  });

  const archives: readonly (readonly [string, Record<string, Uint8Array>])[] = [
    ['docx', { '[Content_Types].xml': strToU8('<a/>'), 'word/document.xml': strToU8('<a/>') }],
    ['xlsx', { '[Content_Types].xml': strToU8('<a/>'), 'xl/workbook.xml': strToU8('<a/>') }],
  ];
  for (const [format, members] of archives)
    it(`knows ${format} by its members`, async () => {
      expect(await sniff(zipSync(members), null)).to.include({ kind: 'known', format });
    });

  it('knows a workbook by its own members, not by those of a file that it holds', async () => {
    const inner = zipSync({ 'word/document.xml': strToU8('<a/>') }, { level: 0 });
    const bytes = zipSync(
      { 'xl/workbook.xml': strToU8('<a/>'), 'xl/embeddings/a.docx': inner },
      { level: 0 },
    );
    expect(await sniff(bytes, null)).to.include({ format: 'xlsx' });
  });

  it('refuses an archive of something else', async () => {
    const bytes = zipSync({ 'a.txt': strToU8('a') });
    expect((await sniff(bytes, 'a.zip')).kind).to.equal('unsupported');
    expect((await sniff(bytes, 'a.docx')).kind).to.equal('damaged');
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
      expect(await sniff(bytes, 'a.txt')).to.include({
        kind: 'known',
        format: 'text',
        text: 'Größe für Élise',
      });
    });

  it('reads Shift-JIS', async () => {
    const text = '請求書番号と合計金額をお知らせします。日本語の文章です。';
    expect(await sniff(iconv.encode(text, 'shift_jis'), 'a.txt')).to.include({ text });
  });

  it('normalises line ends and composition', async () => {
    expect(await sniff(Buffer.from('a\r\nb\rc e\u0301'), 'a.txt')).to.include({ text: 'a\nb\nc é' });
  });

  it('refuses what it cannot read, and says what it was', async () => {
    const sniffed = await sniff(WAV, 'a.pdf');
    expect(sniffed.kind).to.equal('unsupported');
    expect(sniffed).to.have.property('detail').that.includes('audio/wav');
  });

  it('takes bytes that are no text for damaged when the name says PDF, else for unsupported', async () => {
    const garbage = Buffer.from(Array.from({ length: 999 }, (_, i) => (i * 73 + 11) % 256));
    expect((await sniff(garbage, 'a.pdf')).kind).to.equal('damaged');
    expect((await sniff(garbage, null)).kind).to.equal('unsupported');
  });

  it('takes letters of no language that are named like a PDF for damaged, and a text so named for a text', async () => {
    expect((await sniff(Buffer.alloc(50_000, 0xa7), 'a.pdf')).kind).to.equal('damaged');
    expect(await sniff(Buffer.from('Größe'), 'a.pdf')).to.include({ format: 'text' });
  });

  it('takes no bytes, and nothing but white space, for empty', async () => {
    expect((await sniff(Buffer.alloc(0), 'a.pdf')).kind).to.equal('empty');
    expect((await sniff(Buffer.from(' \n\t '), 'a.txt')).kind).to.equal('empty');
  });
});
