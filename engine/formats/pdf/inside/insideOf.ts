import type { Box, EmbeddedInvoice } from '../../../document/document.ts';
import { embeddedInvoice } from './embeddedInvoice.ts';
import { fontLook } from './fontLook.ts';
import { appearancesOf, type Appearances } from './appearances.ts';
import { contentsOf, drawnRuns } from './drawnRuns.ts';
import { nameIn, pdfObjects, type PdfObjects } from './objects.ts';
import type { DrawnRun } from './operators.ts';
import { outlineOf, type Outline } from './outline.ts';
import { pageTree, type InnerPage } from './pageTree.ts';

/** What a file says that its text alone does not. */
export interface InsideOfPdf {
  /**
   * How the text at a place of a page was drawn; undefined where all of it looks the same and nobody asks for the
   * sizes within words (`isClose`). Page 1 is the first.
   */
  runsOf(page: number, isClose: boolean): RunsAt | undefined;
  readonly outline: Outline;
  /** The invoice that lies in the file as data; undefined where there is none. */
  invoice(): EmbeddedInvoice | undefined;
  /** The stamps on these pages, as a file of their own; undefined where there are none. */
  appearances(numbers: readonly number[]): Appearances | undefined;
}

/** The runs that lie in a box, a word's, at least with half of their height. */
export type RunsAt = (box: Box) => readonly DrawnRun[];

/** Looks into the file itself; undefined where that cannot be done, as in one that is encrypted. */
export function insideOf(file: Buffer): InsideOfPdf | undefined {
  return unlessBroken(() => {
    const objects = pdfObjects(file);
    if (objects === undefined) return undefined;
    const { pages, numbers } = pageTree(objects);
    const budget = { operators: 5_000_000, forms: 20_000, runs: 1_000_000 };
    return {
      outline: outlineOf(objects, numbers),
      invoice: () => unlessBroken(() => embeddedInvoice(objects)),
      appearances: (wanted) => unlessBroken(() => appearancesOf(pages, new Set(wanted), objects)),
      runsOf: (number, isClose) => {
        const page = pages[number - 1];
        return page === undefined || (!isClose && looksOne(page, objects))
          ? undefined
          : unlessBroken(() => runsAt(drawnRuns(page, objects, budget)));
      },
    };
  });
}

/** Whether all fonts of a page look the same, and all its text has ink: then the parser's word is enough. */
function looksOne({ dict, resources }: InnerPage, objects: PdfObjects): boolean {
  if (objects.dict(resources?.entries.get('XObject')) !== undefined) return false;
  const fonts = [...(objects.dict(resources?.entries.get('Font'))?.entries.values() ?? [])];
  const looks = fonts.map((font) => {
    const { bold, italic, mono } = fontLook(nameIn(objects.dict(font)?.entries.get('BaseFont')));
    return `${bold} ${italic} ${mono}`;
  });
  return new Set(looks).size < 2 && !Buffer.from(contentsOf({ dict }, objects)).includes(' Tr');
}

/** What cannot be read here costs the look of words only: the parser has read their text. */
function unlessBroken<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** Points; runs are looked for in bands of this height. */
const BAND = 12;
const BANDS_MAX = 60;
/** So many runs at one height are no text of people. */
const LOOKED_AT_MAX = 400;

function runsAt(runs: readonly DrawnRun[]): RunsAt {
  const bands = new Map<number, DrawnRun[]>();
  for (const run of runs) {
    const from = Math.floor(run.box[1] / BAND);
    const to = Math.min(Math.floor(run.box[3] / BAND), from + BANDS_MAX);
    for (let band = from; band <= to; band += 1) {
      const known = bands.get(band);
      if (known === undefined) bands.set(band, [run]);
      else if (known.length < LOOKED_AT_MAX) known.push(run);
    }
  }
  return (box) =>
    (bands.get(Math.floor((box[1] + box[3]) / 2 / BAND)) ?? []).filter((run) => liesIn(run.box, box));
}

/** By index: this runs for all runs of a band and each of its words. */
const liesIn = (run: Box, box: Box): boolean =>
  run[0] < box[2] &&
  box[0] < run[2] &&
  Math.min(box[3], run[3]) - Math.max(box[1], run[1]) >= (run[3] - run[1]) / 2;
