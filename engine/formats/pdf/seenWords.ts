import type { ParsedPage } from '../../recognition/liteparse.ts';
import { withDrawnBoxes } from './drawnBoxes.ts';
import { fieldWords } from './fieldWords.ts';
import { isGarbled } from './garbled.ts';
import { hasInk, sightOf } from './hiddenText.ts';
import type { InsideOfPdf } from './inside/insideOf.ts';
import type { PdfFile } from './pdfFile.ts';
import { pdfWords, type InkedWord } from './pdfWords.ts';
import { mostlyPictures } from './pageNeeds.ts';
import { picturesOf } from './pictures.ts';
import { mayHaveRaised } from './raisedNumbers.ts';

export interface Seen {
  readonly words: ReadonlyMap<number, readonly InkedWord[]>;
  /** Pages that hold text which nobody can see. */
  readonly hiddenOn: readonly number[];
  /** Pages whose words lie without ink over a picture of them: scans that were recognised by another program. */
  readonly layered: ReadonlySet<number>;
  /** Pages whose letters mean nothing. */
  readonly garbled: ReadonlySet<number>;
}

/** The words that a reader sees. Where colours leave a doubt, a picture of the page decides. */
export async function seenWords(
  pdf: PdfFile,
  pages: readonly ParsedPage[],
  inside: InsideOfPdf | undefined,
): Promise<Seen> {
  const all = new Map(
    pages.map((page) => [page, pdfWords(page, inside?.runsOf(page.pageNum, mayHaveRaised(page)))]),
  );
  const layered = await layeredPages(pdf, all);
  const sights = [...all].map(([page, own]) => ({
    page,
    sight: sightOf(layered.has(page.pageNum) ? own.map(shown) : own, page),
  }));
  const unsure = sights.filter(({ sight }) => sight.doubtful.length > 0).map(({ page }) => page);
  const pictures = await picturesOf(pdf, unsure);
  const hiddenOn: number[] = [];
  const words = new Map<number, readonly InkedWord[]>();
  for (const { page, sight } of sights) {
    const picture = pictures.get(page.pageNum);
    const inked = new Set(
      picture === undefined ? sight.doubtful : sight.doubtful.filter(({ box }) => hasInk(picture, box)),
    );
    if (sight.hidden.length + sight.doubtful.length > inked.size) hiddenOn.push(page.pageNum);
    const seen = [...sight.visible, ...inked];
    words.set(page.pageNum, withDrawnBoxes(page, [...seen, ...fieldWords(page, seen)]));
  }
  const garbled = new Set([...words].flatMap(([number, own]) => (isGarbled(own) ? [number] : [])));
  return { words, hiddenOn, layered, garbled };
}

/** The picture shows what the layer says: its words have no ink of their own. */
const shown = (word: InkedWord): InkedWord =>
  word.isInvisible ? { ...word, isInvisible: false, color: null } : word;

/** A layer over a scan is nearly all of a page's text; a few words without ink beside others are hidden ones. */
const LAYER_SHARE = 0.8;

async function layeredPages(
  pdf: PdfFile,
  words: ReadonlyMap<ParsedPage, readonly InkedWord[]>,
): Promise<ReadonlySet<number>> {
  const invisible = [...words].filter(
    ([, own]) => own.length > 0 && own.filter((word) => word.isInvisible).length >= LAYER_SHARE * own.length,
  );
  return new Set(
    await mostlyPictures(
      pdf,
      invisible.map(([page]) => page),
    ),
  );
}
