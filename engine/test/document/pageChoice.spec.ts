import { expect } from 'chai';
import { chosenPages, pageChoice } from '../../document/pages.ts';
import { openFile, readFileAsDocument } from '../../formats/readDocument.ts';
import type { ReceivedFile } from '../../isolation/children/jobs.ts';
import { encryptedPdf, plainPdf } from '../support/pdfs.ts';

const file = (bytes: Buffer, over: Partial<ReceivedFile> = {}): ReceivedFile => ({
  bytes,
  fileName: 'a.pdf',
  effort: 'fast',
  pagesMax: 3,
  languages: [],
  ...over,
});

const textsOf = async (sent: ReceivedFile): Promise<unknown> => {
  const read = await readFileAsDocument(sent);
  if (read.kind !== 'ok') return read;
  return read.document.pages.map(({ page, lines }) => [page, lines.map(({ text }) => text).join(' ')]);
};

describe('pages of a document that are chosen', () => {
  it('are spelled alike, whoever names them', () => {
    for (const [text, spelled] of [
      ['1-3,7', '1-3,7'],
      [' 7 , 1 - 3 ', '1-3,7'],
      ['1,2,3,3-5', '1-5'],
      ['5-', '5-'],
      ['2-,9', '2-'],
    ] as const)
      expect(pageChoice(text), text).to.include({ kind: 'choice', text: spelled });
  });

  it('are refused with a sentence where no page is named', () => {
    const many = Array.from({ length: 101 }, (_, i) => 2 * i + 1).join(',');
    for (const text of [
      '',
      ',',
      '0',
      '3-1',
      'one',
      '-3',
      '1--2',
      '1.5',
      '100001',
      '1e3',
      '1,',
      many,
      '1'.repeat(2000),
    ])
      expect(pageChoice(text), text).to.have.property('kind', 'wrong');
  });

  it('may end beyond the last page, but not begin there', () => {
    expect(chosenPages('2-9', 3)).to.deep.equal({ kind: 'pages', numbers: [2, 3] });
    expect(chosenPages('1,4', 3)).to.deep.equal({
      kind: 'no_such_page',
      detail: 'There is no page 4: the document has 3 pages.',
    });
  });

  it('alone are read of a PDF, under their numbers; the page cap is theirs', async () => {
    const pdf = plainPdf(['one', 'two', 'three', 'four', 'five']);
    expect(await openFile(file(pdf))).to.include({ kind: 'too_many_pages' });
    expect(await openFile(file(pdf, { pages: '1-4' }))).to.include({ kind: 'too_many_pages', pages: 4 });
    const opened = await openFile(file(pdf, { pages: '2,4-' }));
    expect(opened).to.deep.include({ pages: 3, chosen: { numbers: [2, 4, 5], total: 5 } });
    expect(await textsOf(file(pdf, { pages: '2,4-' }))).to.deep.equal([
      [2, 'two'],
      [4, 'four'],
      [5, 'five'],
    ]);
    expect(await textsOf(file(pdf, { pages: '6' }))).to.include({ kind: 'no_such_page' });
  });

  it('alone are given of a text', async () => {
    const pages = ['a', 'b', 'c', 'd'].map((letter) => `${letter.repeat(2998)}\n\n`).join('');
    const sent = file(Buffer.from(pages), { fileName: 'a.txt', pages: '2-3' });
    const texts = (await textsOf(sent)) as readonly (readonly [number, string])[];
    expect(texts.map(([page]) => page)).to.deep.equal([2, 3]);
    expect(texts.map(([, text]) => text.charAt(0))).to.deep.equal(['b', 'c']);
  });
});

describe('an encrypted PDF', () => {
  it('is read with its password, and says what is wrong without', async () => {
    const pdf = encryptedPdf('open sesame');
    expect(await textsOf(file(pdf, { password: 'open sesame' }))).to.deep.equal([[1, 'secret']]);
    const wrong = await openFile(file(pdf, { password: 'sesame' }));
    expect(wrong).to.deep.equal({ kind: 'wrong_password', detail: 'The password does not open the PDF.' });
    expect(await openFile(file(pdf)))
      .to.have.property('detail')
      .that.contains('send its password');
    expect(await textsOf(file(plainPdf(['open']), { password: 'for nothing' }))).to.deep.equal([[1, 'open']]);
  });
});
