import type { ParseConfig } from '../../recognition/liteparse.ts';
import { overlap } from './pageContent.ts';
import { sightOf } from './hiddenText.ts';
import { insideOf, type InsideOfPdf } from './inside/insideOf.ts';
import { parsePdf } from './pdfFile.ts';
import { pdfWords, type InkedWord } from './pdfWords.ts';

/**
 * The words of stamps by their page: viewers draw them over pages, and the parser does not
 * read them. `config` is what words are read with.
 */
export async function wordsDrawnOver(
  inside: InsideOfPdf | undefined,
  numbers: readonly number[],
  config: ParseConfig,
): Promise<ReadonlyMap<number, readonly InkedWord[]>> {
  const over = inside?.appearances(numbers);
  if (over === undefined) return new Map();
  const own = insideOf(over.bytes);
  try {
    const { pages } = await parsePdf({ bytes: over.bytes, sent: over.bytes }, config);
    return new Map(
      pages.map((page) => {
        const words = pdfWords(page, own?.runsOf(page.pageNum, true));
        return [over.numbers[page.pageNum - 1] ?? 0, sightOf(words, page).visible];
      }),
    );
  } catch {
    return new Map();
  }
}

/** The words that pages have, and those drawn over them where the pages themselves have none. */
export const withDrawnOver = (
  words: ReadonlyMap<number, readonly InkedWord[]>,
  over: ReadonlyMap<number, readonly InkedWord[]>,
): ReadonlyMap<number, readonly InkedWord[]> =>
  new Map(
    [...words].map(([number, own]) => {
      const more = (over.get(number) ?? []).filter(({ box }) => !own.some((word) => overlap(word.box, box)));
      return [number, [...own, ...more]];
    }),
  );
