import { expect } from 'chai';
import { zipOf } from '../../../engine/test/support/officeFiles.ts';
import { previewKind, lettersOf, placeOf, wantedOf, type Wanted } from '../../src/document/preview.ts';
import { previewMarkdown } from '../../src/document/previewMarkdown.ts';
import { valueRows } from '../../src/document/values.ts';

const read = (content: string | Buffer, name: string): Promise<string> => {
  const kind = previewKind({ name, type: '' });
  if (kind === undefined) throw new Error(`${name} is not read`);
  return previewMarkdown(new Blob([typeof content === 'string' ? content : new Uint8Array(content)]), kind);
};

const word = (body: string): Buffer =>
  zipOf({ 'word/document.xml': `<w:document xmlns:w="x"><w:body>${body}</w:body></w:document>` });
const paragraph = (text: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
const cell = (text: string): string => `<w:tc>${paragraph(text)}</w:tc>`;

describe('a preview of the browser', () => {
  it('knows formats by the ends of their names and by their types', () => {
    expect(previewKind({ name: 'A.DOCX', type: '' })).to.equal('word');
    expect(previewKind({ name: 'letter', type: 'message/rfc822' })).to.equal('mail');
    for (const name of ['a.pptx', 'constructor', 'a.constructor', ''])
      expect(previewKind({ name, type: '' }), name).to.equal(undefined);
  });

  it('has the headings, lists and tables of a Word document', async () => {
    const rows = [cell('Item') + cell('Price'), cell('Bolt | nut') + cell('1.20')];
    const table = `<w:tbl>${rows.map((row) => `<w:tr>${row}</w:tr>`).join('')}</w:tbl>`;
    const body = [
      paragraph('Invoice', '<w:pStyle w:val="Heading1"/>'),
      paragraph('Number: *A-1*'),
      paragraph('first', '<w:numPr/>'),
      table,
      paragraph('End'),
    ].join('');
    expect(await read(word(body), 'a.docx')).to.equal(
      '# Invoice\n\nNumber: \\*A-1\\*\n\n- first\n\n| Item | Price |\n| --- | --- |\n| Bolt \\| nut | 1.20 |\n\nEnd\n',
    );
  });

  it('has the text of a page of the web, none of its scripts, and its HTML as text', async () => {
    const html =
      '<title>no</title><h2>A &amp; B</h2><p>One<br>two &lt;b&gt;</p><script>bad()</script><style>x{}</style>' +
      '<ul><li>item</ul><table><tr><th>a<th>b<tr><td>1<td><table><tr><td>in</table></table>end';
    expect(await read(html, 'a.html')).to.equal(
      '## A & B\n\nOne two \\<b\\>\n\n- item\n\n| a | b |\n| --- | --- |\n| 1 | in |\n\nend\n',
    );
  });

  it('has the rows of tables, and the head and words of a mail', async () => {
    expect(await read('a;b\n1;"x|y"\n', 'a.csv')).to.equal('| a | b |\n| --- | --- |\n| 1 | x\\|y |\n');
    const mail =
      'From: Ann <ann@example.com>\r\nTo: bob@example.com\r\nSubject: Order 7\r\n' +
      'Content-Type: text/html\r\n\r\n<p>Total: <b>12</b></p>';
    const shown = await read(mail, 'a.eml');
    expect(shown).to.include('# Order 7\n\nFrom: Ann, ann@example.com\n\nTo: bob@example.com');
    expect(shown).to.include('\n\nTotal: 12\n');
  });

  it('has each sheet of a book as a table', async () => {
    const { utils, write } = await import('@e965/xlsx');
    const book = utils.book_new();
    utils.book_append_sheet(
      book,
      utils.aoa_to_sheet([
        ['Item', 'Price'],
        ['Bolt', 1.5],
      ]),
      'Parts',
    );
    const bytes = write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
    expect(await read(bytes, 'a.xlsx')).to.equal(
      '## Parts\n\n| Item | Price |\n| --- | --- |\n| Bolt | 1.5 |\n',
    );
  });

  it('gives no document for what is none, nor for one that unpacks without end', async () => {
    const failed = (bytes: Buffer) =>
      read(bytes, 'a.docx').then(
        () => 'read',
        () => 'failed',
      );
    expect(await failed(Buffer.from('no archive'))).to.equal('failed');
    expect(await failed(zipOf({ 'other.xml': '<a/>' }))).to.equal('failed');
    const endless = word(paragraph('x'));
    // the archive's list of members says how large they are
    endless.writeUInt32LE(0x7fffffff, endless.indexOf('PK\u0001\u0002') + 24);
    expect(await failed(endless)).to.equal('failed');
  });
});

describe('the place of a value in a text', () => {
  const found = (pieces: readonly string[], wanted: Wanted): string | undefined => {
    const letters = lettersOf(pieces);
    const place = placeOf(letters, wanted);
    if (place === undefined) return undefined;
    const [piece = 0, at = 0] = letters.origins[place[0]] ?? [];
    return `${String(piece)}:${String(at)}`;
  };

  it('is where the words stand whole, however they are spaced', () => {
    expect(found(['in 2012', 'and 12', 'x'], { words: '12', near: [] })).to.equal('1:4');
    expect(found(['Acme', 'Ltd. &', ' Sons'], { words: 'Acme Ltd.\n& Sons', near: [] })).to.equal('0:0');
    expect(found(['abc'], { words: 'b', near: [] })).to.equal(undefined);
    expect(found(['abc'], { words: ' ', near: [] })).to.equal(undefined);
  });

  it('is, of several, the nearest to what stands beside it', () => {
    const pieces = ['Bolt', '4', '1.20', 'Nut', '4', '0.80'];
    expect(found(pieces, { words: '4', near: ['Nut'] })).to.equal('4:0');
    expect(found(pieces, { words: '4', near: ['4', 'missing', 'Nut'] })).to.equal('4:0');
    expect(found(pieces, { words: '4', near: [] })).to.equal('1:0');
  });

  it('is looked for beside the other values of its line, or by the name of its field', () => {
    const cited = (path: string, text: string) => ({ path, text, page: 1, bbox: null, confidence: 0.9 });
    const citations = [
      cited('/items/1/name', 'Long nut'),
      cited('/items/1/count', '4'),
      cited('/due_date', '3 May'),
    ];
    const result = { items: [{ name: 'Bolt' }, { name: 'Long nut', count: 4 }], due_date: 'x', other: 1 };
    const rows = valueRows(result, undefined, { citations, errors: null });
    expect(wantedOf(rows, '/items/1/count')).to.deep.equal({ words: '4', near: ['Long nut'] });
    expect(wantedOf(rows, '/due_date')).to.deep.equal({ words: '3 May', near: ['Due date', 'due date'] });
    expect(wantedOf(rows, '/other')).to.equal(undefined);
  });
});
