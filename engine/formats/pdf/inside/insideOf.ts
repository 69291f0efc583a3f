import type { Box } from '../../../document/document.ts';
import { fontLook } from '../fontLook.ts';
import { contentsOf, drawnRuns } from './drawnRuns.ts';
import { nameIn, pdfObjects, type PdfObjects } from './objects.ts';
import type { DrawnRun } from './operators.ts';
import { outlineOf, type Bookmark } from './outline.ts';
import { pageTree, type InnerPage } from './pageTree.ts';

/** What a file says that its text alone does not. */
export interface InsideOfPdf {
  /** How the text at a place of a page was drawn: a function of the box of a word. Page 1 is the first. */
  runsOf(page: number): RunAt | undefined;
  readonly outline: readonly Bookmark[];
}

export type RunAt = (box: Box) => DrawnRun | undefined;

/** Looks into the file itself; undefined where that cannot be done, as in one that is encrypted. */
export function insideOf(file: Buffer): InsideOfPdf | undefined {
  return unlessBroken(() => {
    const objects = pdfObjects(file);
    if (objects === undefined) return undefined;
    const { pages, numbers } = pageTree(objects);
    const budget = { operators: 5_000_000, forms: 20_000, runs: 1_000_000 };
    return {
      outline: outlineOf(objects, numbers),
      runsOf: (number) => {
        const page = pages[number - 1];
        return page === undefined || looksOne(page, objects)
          ? undefined
          : unlessBroken(() => runAt(drawnRuns(page, objects, budget)));
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

function runAt(runs: readonly DrawnRun[]): RunAt {
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
  return ([x0, y0, x1, y1]) => {
    const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
    const band = bands.get(Math.floor(y / BAND)) ?? [];
    return band.find(({ box }) => x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3]);
  };
}
