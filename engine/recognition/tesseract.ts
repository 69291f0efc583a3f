import { cleanText } from '../document/plainText.ts';
import type { Box } from '../document/document.ts';
import { type PlacedWord, recognisedWord } from '../layout/content.ts';
import type { GreyImage } from './greyImage.ts';
import { parseFile, type TextItem } from './liteparse.ts';
import { TESSDATA } from './tessdata.ts';

/** Words below this are dirt more often than text. */
const CONFIDENCE_MIN = 0.3;

/** The picture is recognised pixel by pixel as it is: drawn at the density that it is said to have. */
export async function tesseractWords(
  { png, width, dpi }: GreyImage,
  language: string,
): Promise<readonly PlacedWord[]> {
  const { pages } = await parseFile(png, {
    ocrEnabled: true,
    ocrLanguage: language,
    tessdataPath: TESSDATA,
    quiet: true,
    imageMode: 'off',
    numWorkers: 1,
    dpi,
    outputFormat: 'json',
    emitWordBoxes: true,
  });
  const [page] = pages;
  if (page === undefined) return [];
  const scale = width / page.width;
  return page.textItems.flatMap((item) => itemWords(item, scale));
}

/** Items hold neighbouring words; their boxes are shared out by letters. */
function itemWords(item: TextItem, scale: number): readonly PlacedWord[] {
  const confidence = Math.min(0.99, item.confidence ?? 0);
  const text = cleanText(item.text);
  if (confidence < CONFIDENCE_MIN) return [];
  const step = (item.width * scale) / Math.max(1, text.length);
  const [left, top, bottom] = [item.x * scale, item.y * scale, (item.y + item.height) * scale];
  return [...text.matchAll(/[^\s|]+/g)].map((match) => {
    const x0 = left + match.index * step;
    const box: Box = [x0, top, x0 + match[0].length * step, bottom];
    return recognisedWord({ text: match[0], box, size: bottom - top, confidence, readBy: 'tesseract' });
  });
}
