import type { ParsedPage } from '../../recognition/liteparse.ts';
import type { Box, TextSource } from '../../document/document.ts';
import { around, type AsideText, type PageContent } from '../../layout/content.ts';
import { pdfRules } from './pdfRules.ts';
import type { InkedWord } from './pdfWords.ts';
import type { Recognised } from './recognise.ts';
import { agree } from './searchableScans.ts';
import { turnOfWord, type Turn } from './turnedPages.ts';

interface RecognisedPage {
  readonly page: ParsedPage | undefined;
  readonly own: readonly InkedWord[];
  /** Whether its text layer is that of a scan. */
  readonly isLayered: boolean;
  /** Whether the letters of its text layer mean nothing. */
  readonly isGarbled: boolean;
  readonly ocr: Extract<Recognised, { readonly kind: 'words' }>;
}

export interface SourcedContent extends PageContent {
  readonly source: Extract<TextSource, 'text_layer' | 'ocr' | 'both'>;
}

/** A good text layer stays, and only what it does not cover is added; else what was recognised stands. */
export function recognisedContent(recognised: RecognisedPage): SourcedContent {
  const { page, own, ocr } = recognised;
  const rules = page === undefined || ocr.turned !== 0 ? [] : pdfRules(page);
  const isGood = isGoodLayer(recognised);
  const added = ocr.words.filter(
    ({ box, confidence }) => confidence > 0.6 && !own.some((word) => overlap(word.box, box)),
  );
  const words = isGood ? [...own.filter((word) => turnOfWord(word) === 0), ...added] : ocr.words;
  return {
    width: ocr.width,
    height: ocr.height,
    words,
    rules: [...rules, ...ocr.rules],
    aside: isGood ? asideOf(own, 0) : [],
    source: !isGood ? 'ocr' : added.length > 0 ? 'both' : 'text_layer',
  };
}

const isGoodLayer = ({ own, isLayered, isGarbled, ocr }: RecognisedPage): boolean =>
  own.length >= 0.5 * ocr.words.length &&
  ocr.turned === 0 &&
  !isGarbled &&
  (!isLayered || agree(own, ocr.words));

/** Words that do not lie as most do, by how they are turned. */
export function asideOf(words: readonly InkedWord[], turn: Turn): readonly AsideText[] {
  const turned = new Map<number, InkedWord[]>();
  for (const word of words) {
    if (turnOfWord(word) === turn) continue;
    const same = turned.get(Math.round(word.rotation));
    if (same === undefined) turned.set(Math.round(word.rotation), [word]);
    else same.push(word);
  }
  return [...turned.values()].map((same) => ({
    text: same.map(({ text }) => text).join(' '),
    box: around(same.map(({ box }) => box)),
  }));
}

export const overlap = (a: Box, b: Box): boolean => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
