import { expect } from 'chai';
import sharp from 'sharp';
import { readFileAsDocument } from '../../../formats/readDocument.ts';
import type { Document } from '../../../document/document.ts';
import { pagesWithDrawnText } from '../../../formats/pdf/pageNeeds.ts';
import type { ReceivedFile } from '../../../formats/pieces/received.ts';
import type { ParsedPage } from '../../../recognition/liteparse.ts';
import type { ParseEffort } from '../../../ports/documentParser.ts';
import { pictureOf } from '../../support/pagePictures.ts';
import { drawnPdf, scannedPdf } from '../../support/pdfs.ts';

const SHOWN = ['Account number: 4711-0815', 'Amount due: 129.50 EUR', 'Due date: 14.03.2031'];
const TEXT = [
  'The sample bill below shows where a customer finds the number of the account',
  'and the sum to be paid. This sentence has been written by hand, and it stands in',
  'the text layer of the page, as the words of this line do, which are read from it.',
];
const lines = (texts: readonly string[], size: number): string =>
  texts
    .map((text, i) => `BT /F1 ${String(size)} Tf 60 ${String(720 - 2 * size * i)} Td (${text}) Tj ET`)
    .join('\n');

describe('a picture of text on a page with a text layer', () => {
  let picture: { jpeg: Buffer; width: number; height: number };
  before(async () => {
    const { data, info } = await sharp(await pictureOf(drawnPdf(lines(SHOWN, 24))))
      .flatten({ background: '#fff' })
      .extract({ left: 0, top: 60, width: 1275, height: 340 })
      .toColourspace('b-w')
      .jpeg({ quality: 92 })
      .toBuffer({ resolveWithObject: true });
    picture = { jpeg: data, width: info.width, height: info.height };
  });
  const read = async (
    text: string,
    effort: ParseEffort = 'standard',
    more: Partial<ReceivedFile> = {},
  ): Promise<Document> => {
    const bytes = scannedPdf(picture, text, { place: '480 0 0 128 60 300' });
    const result = await readFileAsDocument({
      bytes,
      fileName: null,
      effort,
      pagesMax: 9,
      languages: ['eng'],
      ...more,
    });
    if (result.kind !== 'ok') throw new Error(result.kind);
    return result.document;
  };
  const wordsOf = ({ pages }: Document) => pages.flatMap((page) => page.lines.flatMap((line) => line.words));

  it('is read beside the layer, each word with how sure it is and where it stands', async () => {
    const document = await read(lines(TEXT, 11));
    expect(document.pages[0]).to.include({ status: 'ok', source: 'both' });
    const words = wordsOf(document);
    const seen = words.filter(({ confidence }) => confidence < 1);
    expect(seen.map(({ text }) => text).join(' ')).to.equal(SHOWN.join(' '));
    for (const { box } of seen) expect(box?.[1]).to.be.within(792 - 428, 792 - 300);
    expect(words.filter(({ confidence }) => confidence === 1).map(({ text }) => text)).to.deep.equal(
      TEXT.join(' ').split(' '),
    );
  });

  it('is not read twice where words of the layer lie over it', async () => {
    const over = `BT /F1 18.8 Tf 107 394 Td (${SHOWN[0] ?? ''}) Tj ET`;
    const words = wordsOf(await read(`${lines(TEXT, 11)}\n${over}`));
    expect(words.filter(({ text }) => text === 'Account').map(({ confidence }) => confidence)).to.deep.equal([
      1,
    ]);
    expect(words.map(({ text }) => text)).to.include.members(['Amount', '129.50', '14.03.2031']);
  });

  it('is left where there is no time, and that is said', async () => {
    const { pages, warnings } = await read(lines(TEXT, 11), 'standard', { hurry: { isOn: true } });
    expect(pages[0]).to.include({ status: 'ok', source: 'text_layer' });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.deep.include({ code: 'deadline_reached', pages: [1] });
  });

  it('is looked for in the first part of a document that is read in parts', async () => {
    const document = await read(lines(TEXT, 11), 'standard', { isLaterPart: true });
    expect(document.pages[0]).to.include({ source: 'text_layer' });
    expect(wordsOf(document).every(({ confidence }) => confidence === 1)).to.equal(true);
    expect(document.warnings).to.deep.equal([]);
  });

  it('is not looked for on a scan with a layer, whose words are those of the picture', () => {
    const page = { pageNum: 1, complexity: { largestImageCoverage: 1, textCoverage: 0.5 } } as ParsedPage;
    const none = new Set<number>();
    const reading = { refused: none, garbled: none, effort: 'standard', isLaterPart: false } as const;
    const candidates = (layered: ReadonlySet<number>) =>
      pagesWithDrawnText({ ...reading, pages: [page], words: new Map(), layered }, none);
    expect(candidates(none)).to.have.length(1);
    expect(candidates(new Set([1]))).to.deep.equal([]);
  });

  it('is not looked at where no recognition is wanted', async () => {
    const document = await read(lines(TEXT, 11), 'fast');
    expect(wordsOf(document).every(({ confidence }) => confidence === 1)).to.equal(true);
  });
});
