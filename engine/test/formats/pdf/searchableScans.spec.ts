import { expect } from 'chai';
import sharp from 'sharp';
import { readFileAsDocument } from '../../../formats/readDocument.ts';
import { agree } from '../../../formats/pdf/searchableScans.ts';
import { markdownOf } from '../../../document/markdown.ts';
import type { Document } from '../../../document/document.ts';
import type { ParseEffort } from '../../../ports/documentParser.ts';
import { line } from '../../support/drawnPages.ts';
import { pictureOf } from '../../support/pagePictures.ts';
import { drawnPdf, scannedPdf } from '../../support/pdfs.ts';

const LINES = [
  'The quick brown fox jumps over the lazy dog and the old cat.',
  'Invoice number 4711 of the third of March, with the sum of 129.50',
  'is to be paid within thirty days from the date of this letter.',
];
const OTHER = [
  'Nothing of what another program wrote here some time ago is meant,',
  'because these words belong to the page of somebody else altogether,',
  'and whoever searches for them finds the wrong sheet of paper again.',
];
const textAt = (lines: readonly string[], mode: number): string =>
  lines.map((text, i) => `BT ${mode} Tr /F1 14 Tf 60 ${700 - 24 * i} Td (${text}) Tj ET`).join('\n');

describe('a scan with a text layer', () => {
  let picture: { jpeg: Buffer; width: number; height: number };
  before(async () => {
    const { data, info } = await sharp(await pictureOf(drawnPdf(textAt(LINES, 0))))
      .flatten({ background: '#fff' })
      .toColourspace('b-w')
      .jpeg({ quality: 90 })
      .toBuffer({ resolveWithObject: true });
    picture = { jpeg: data, width: info.width, height: info.height };
  });
  const read = async (layer: readonly string[], effort: ParseEffort = 'standard'): Promise<Document> => {
    const bytes = scannedPdf(picture, textAt(layer, 3));
    const result = await readFileAsDocument({
      bytes,
      fileName: null,
      effort,
      pagesMax: 9,
      languages: ['eng'],
    });
    if (result.kind !== 'ok') throw new Error(result.kind);
    return result.document;
  };

  it('is read by its layer where a sample of the picture agrees, and says so', async () => {
    const document = await read(LINES);
    expect(markdownOf(document)).to.equal(`${LINES.join(' ')}\n`);
    expect(document.pages[0]).to.include({ status: 'ok', source: 'text_layer' });
    expect(document.pages[0]?.detail).to.match(/sample of the picture agrees/);
    expect(document.warnings).to.deep.equal([]);
  });

  it('is recognised anew where the layer says otherwise, and says so', async () => {
    const document = await read(OTHER);
    expect(markdownOf(document)).to.contain('quick brown fox').and.not.contain('somebody else');
    expect(document.pages[0]).to.include({ status: 'ok', source: 'ocr' });
    expect(document.pages[0]?.detail).to.match(/does not agree/);
  });

  it('is read by its layer in fast, which says that it was not tried', async () => {
    const document = await read(OTHER, 'fast');
    expect(document.pages[0]).to.include({ status: 'ok', source: 'text_layer' });
    expect(document.pages[0]?.detail).to.match(/does not hold against/);
  });
});

describe('agreement of a layer with what was recognised', () => {
  const seen = [line('The quick brown fox jumps', [50, 100]), line('over the lazy dog', [50, 120])].flat();

  it('asks for the same words at the same places', () => {
    expect(agree(seen, seen)).to.equal(true);
    const moved = [line('The quick brown fox jumps', [50, 400]), line('over the lazy dog', [50, 420])].flat();
    expect(agree(moved, seen)).to.equal(false);
  });

  it('does not mind words that are cut otherwise, nor accents', () => {
    const cut = [line('Thequick brown f ox jumps', [50, 100]), line('over thé lazy dog', [50, 120])].flat();
    expect(agree(cut, seen)).to.equal(true);
  });

  it('is not doubted on account of a few words', () => {
    expect(agree([], line('only three words', [50, 100]))).to.equal(true);
  });
});
