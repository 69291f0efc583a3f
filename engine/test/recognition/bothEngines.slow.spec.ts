import { expect } from 'chai';
import sharp from 'sharp';
import type { RecognitionEngine, Word } from '../../document/document.ts';
import { recognitionOf } from '../../recognition/engines.ts';
import { greyImage } from '../../recognition/greyImage.ts';
import { recogniseImage } from '../../recognition/recogniseImage.ts';
import { openDocumentWorkers } from '../../isolation/documentWorkers.ts';
import type { ParseEffort } from '../../ports/documentParser.ts';
import { pictureOf } from '../support/pagePictures.ts';
import { drawnPdf } from '../support/pdfs.ts';
import { tempFolder } from '../support/tempFolder.ts';

const LINES = [
  'Corner Bakery of Lower Street',
  'Rye bread 2 x 3.45   6.90',
  'Total 18.37 paid by card',
  'Receipt 4711-0815 of 12.03.2026',
];
/** Letters of nine pixels, blurred: as a photograph from afar. */
const FAR_DPI = 50;

describe('a bad picture', () => {
  const folder = tempFolder();
  let far: Buffer;
  before(async () => {
    const texts = LINES.map((text, i) => `BT /F1 14 Tf 60 ${700 - 24 * i} Td (${text}) Tj ET`);
    far = await sharp(await pictureOf(drawnPdf(texts.join('\n')), FAR_DPI))
      .flatten({ background: '#fff' })
      .blur(0.5)
      .jpeg({ quality: 40 })
      .toBuffer();
  });
  after(() => folder.remove());

  const wordsOf = async (
    picture: Buffer,
    ocrEngines: readonly RecognitionEngine[],
    effort: ParseEffort = 'standard',
  ): Promise<readonly Word[]> => {
    const workers = openDocumentWorkers({ processes: 1, ocrEngines });
    try {
      const path = folder.file('far', picture);
      const request = { path, fileName: null, effort, pagesMax: 10, deadlineMs: 60_000, share: 't' };
      const parsed = await workers.parser.parse(request);
      if (parsed.kind !== 'ok') throw new Error(parsed.kind);
      return parsed.document.pages.flatMap(({ lines }) => lines.flatMap(({ words }) => words));
    } finally {
      await workers.close();
    }
  };
  const textOf = (words: readonly Word[]): string => words.map(({ text }) => text).join(' ');
  const enginesOf = (words: readonly Word[]) => [...new Set(words.map(({ readBy }) => readBy))].sort();

  it('is read better by both engines, and each word tells which read it', async () => {
    const alone = await wordsOf(far, ['tesseract']);
    expect(textOf(alone)).to.not.contain('Rye bread');
    expect(enginesOf(alone)).to.deep.equal(['tesseract']);
    const both = await wordsOf(far, ['tesseract', 'ppocr']);
    expect(textOf(both)).to.contain('Rye bread').and.contain('18.37').and.contain('4711-0815');
    expect(enginesOf(both)).to.deep.equal(['ppocr', 'tesseract']);
  });

  it('is read by Tesseract alone in fast', async () => {
    const fast = await wordsOf(far, ['tesseract', 'ppocr'], 'fast');
    expect(fast).to.deep.equal(await wordsOf(far, ['tesseract'], 'fast'));
  });

  it('is read by PP-OCR alone where only that is wanted, and turned by it', async () => {
    const turned = await sharp(far).rotate(90).toBuffer();
    for (const picture of [far, turned]) {
      const words = await wordsOf(picture, ['ppocr']);
      expect(textOf(words)).to.contain('paid by card').and.contain('6.90');
      expect(enginesOf(words)).to.deep.equal(['ppocr']);
    }
  });

  it('gets no second reading where the time is needed for the first', async () => {
    const image = await greyImage(sharp(far), 300);
    const wish = { effort: 'standard', languages: ['eng'] } as const;
    const shares = [
      recognitionOf(wish, 100),
      { ...recognitionOf(wish, 100), engines: ['tesseract'] as const },
    ];
    const [both, alone] = await Promise.all(shares.map((share) => recogniseImage(image, share)));
    expect(both?.words.map(({ text }) => text)).to.deep.equal(alone?.words.map(({ text }) => text));
    const more = await recogniseImage(image, recognitionOf(wish, 1));
    expect(more.words.some(({ readBy }) => readBy === 'ppocr')).to.equal(true);
  });
});
