import { around, median, middleY, type PlacedWord } from './content.ts';

/** One sign of a script that is also written in columns, with the marks that such scripts share. */
const SIGN = /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]$/u;
/** Signs of one column stand under one another: their middles lie within this share of the size. */
const ALIGNED = 0.3;
/** From sign to sign of a column, in sizes: they are set solid or spaced a little. */
const STEP_MIN = 0.7;
const STEP_MAX = 1.4;
/** Columns stand further apart than their signs: signs of level text are nearer to those beside them than below. */
const CLOSER = 0.85;
/** One column by itself must have as many signs to be no list of short answers. */
const LONE_COLUMN = 6;
/** A page is written in columns when this much of its text is. */
const VERTICAL_SHARE = 0.6;

/**
 * The words of a page that is written in columns from right to left, each column's signs joined to words;
 * undefined of a page that is not.
 */
export function verticalText<W extends PlacedWord>(words: readonly W[]): readonly W[] | undefined {
  const signs = words.filter(({ text }) => SIGN.test(text));
  if (signs.length <= VERTICAL_SHARE * lettersIn(words)) return undefined;
  const columns = columnsOf(signs);
  const runs = columns.flatMap(runsOf).filter((run) => run.length > 1);
  const stacked = runs.flat();
  if (stacked.length <= VERTICAL_SHARE * lettersIn(words)) return undefined;
  if (columns.length < 2 ? stacked.length < LONE_COLUMN : !areCloserBelow(runs, signs)) return undefined;
  const taken = new Set(stacked);
  return [...words.filter((word) => !taken.has(word)), ...runs.flatMap(joined)];
}

const lettersIn = (words: readonly PlacedWord[]): number =>
  words.reduce((sum, { text }) => sum + text.length, 0);

const middleX = ({ box }: PlacedWord): number => (box[0] + box[2]) / 2;
const topDown = (a: PlacedWord, b: PlacedWord): number => middleY(a.box) - middleY(b.box);

/** Signs under one another, whatever lies between them. */
function columnsOf<W extends PlacedWord>(signs: readonly W[]): readonly (readonly W[])[] {
  const columns: { signs: W[]; middle: number }[] = [];
  for (const sign of [...signs].sort((a, b) => middleX(a) - middleX(b))) {
    const last = columns.at(-1);
    if (last !== undefined && middleX(sign) - last.middle <= ALIGNED * sign.size) last.signs.push(sign);
    else columns.push({ signs: [sign], middle: middleX(sign) });
  }
  return columns.map((column) => column.signs.sort(topDown));
}

/** The parts of a column in which sign follows sign. */
function runsOf<W extends PlacedWord>(column: readonly W[]): readonly (readonly W[])[] {
  const runs: W[][] = [];
  for (const sign of column) {
    const last = runs.at(-1)?.at(-1);
    const step = last === undefined ? Infinity : middleY(sign.box) - middleY(last.box);
    if (step >= STEP_MIN * sign.size && step <= STEP_MAX * sign.size) runs.at(-1)?.push(sign);
    else runs.push([sign]);
  }
  return runs;
}

/** Whether the next sign below is clearly nearer than the next one beside, of most that have one. */
function areCloserBelow(runs: readonly (readonly PlacedWord[])[], signs: readonly PlacedWord[]): boolean {
  const below = runs.flatMap((run) => stepsOf(run.map(({ box }) => middleY(box))));
  const beside = rowsOfSigns(signs).flatMap((row) => stepsOf(row.map(middleX).sort((a, b) => a - b)));
  return beside.length === 0 || median(below) <= CLOSER * median(beside);
}

const stepsOf = (places: readonly number[]): readonly number[] =>
  places.slice(1).map((place, index) => place - (places[index] ?? 0));

function rowsOfSigns(signs: readonly PlacedWord[]): readonly (readonly PlacedWord[])[] {
  const rows: { signs: PlacedWord[]; middle: number }[] = [];
  for (const sign of [...signs].sort(topDown)) {
    const last = rows.at(-1);
    if (last !== undefined && middleY(sign.box) - last.middle <= ALIGNED * sign.size) last.signs.push(sign);
    else rows.push({ signs: [sign], middle: middleY(sign.box) });
  }
  return rows.map((row) => row.signs);
}

/** Signs of one look and link as one word, which is as wide as its column. */
function joined<W extends PlacedWord>(run: readonly W[]): readonly W[] {
  const parts: W[][] = [];
  for (const sign of run) {
    const last = parts.at(-1)?.at(-1);
    if (last !== undefined && areAlike(last, sign)) parts.at(-1)?.push(sign);
    else parts.push([sign]);
  }
  return parts.flatMap((part) => {
    const [first] = part;
    if (first === undefined) return [];
    const box = around(part.map((sign) => sign.box));
    return [{ ...first, text: part.map(({ text }) => text).join(''), box }];
  });
}

const areAlike = (a: PlacedWord, b: PlacedWord): boolean =>
  a.link === b.link && a.bold === b.bold && a.italic === b.italic && a.size === b.size && a.note === b.note;
