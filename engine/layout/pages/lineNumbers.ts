import { heightOf, median, middleY, type PageContent, type PlacedWord } from '../content.ts';
import { rowsOf, segmentsOf } from '../segments.ts';

/** So many numbers that count on show that lines are numbered. */
const NUMBERED_MIN = 10;
/** Points that the numbers may be off a common right edge. */
const OFF = 3;
/** Of the usual step from one number to the next: as far as a step may be off it. */
const STEP_OFF = 0.3;
/** Of the right edge of the text: a line that ends so far right was broken for want of room. */
const FULL = 0.8;
/** So many lines that go on with the one above show that they are lines of text, not items. */
const GO_ON_MIN = 2;

/** Of the font's height: a wider gap parts cells. */
const CELL_GAP = 2;

type Line = readonly PlacedWord[];

/** Numbers in the margin that count the lines of a page, as in transcripts and pleadings. */
interface Numbering {
  readonly numbers: readonly PlacedWord[];
  readonly isText: boolean;
}

/**
 * Pages without the numbers that count their lines: they stand evenly in the margin and count on beside text that
 * goes on from line to line. What one page shows counts for the others of the document.
 */
export function withoutLineNumbers(pages: readonly PageContent[]): readonly PageContent[] {
  const numberings = pages.map(numberingOf);
  const shown = numberings.filter((one) => one?.isText === true);
  if (shown.length === 0) return pages;
  return pages.map((page, at) => {
    const own = numberings[at];
    if (own === undefined || !(own.isText || shown.some((one) => areAlike(one, own)))) return page;
    const numbers = new Set(own.numbers);
    return { ...page, words: page.words.filter((word) => !numbers.has(word)) };
  });
}

const areAlike = (one: Numbering | undefined, other: Numbering): boolean =>
  Math.abs(rightOf(one?.numbers[0]) - rightOf(other.numbers[0])) <= 2 * OFF;

const rightOf = (word: PlacedWord | undefined): number => word?.box[2] ?? 0;

function numberingOf({ words }: PageContent): Numbering | undefined {
  if (words.filter(isNumber).length < NUMBERED_MIN) return undefined;
  const lines = rowsOf(words);
  const numbers = countedOn(lines);
  if (numbers.length < NUMBERED_MIN || !areEven(numbers)) return undefined;
  return { numbers, isText: goOn(lines, new Set(numbers)) };
}

const isNumber = ({ text }: PlacedWord): boolean => /^\d{1,3}$/.test(text);

/** The first words of lines that count on, one below the other; nothing between them reaches farther to the left. */
function countedOn(lines: readonly Line[]): readonly PlacedWord[] {
  let longest: readonly PlacedWord[] = [];
  let counted: readonly PlacedWord[] = [];
  for (const line of lines) {
    counted = withNext(counted, line);
    if (counted.length > longest.length) longest = counted;
  }
  return longest;
}

function withNext(counted: readonly PlacedWord[], [first, second]: Line): readonly PlacedWord[] {
  const last = counted.at(-1);
  if (first === undefined) return counted;
  const isApart = second === undefined || second.box[0] - first.box[2] >= heightOf(first.box) / 2;
  if (isNumber(first) && isApart) return isNext(last, first) ? [...counted, first] : [first];
  return first.box[0] < rightOf(last) ? [] : counted;
}

const isNext = (last: PlacedWord | undefined, { text, box }: PlacedWord): boolean =>
  last !== undefined && Number(text) === Number(last.text) + 1 && Math.abs(box[2] - last.box[2]) <= OFF;

function areEven(numbers: readonly PlacedWord[]): boolean {
  const steps = numbers.slice(1).map(({ box }, i) => middleY(box) - middleY(numbers[i]?.box ?? box));
  const usual = median(steps);
  return steps.every((step) => Math.abs(step - usual) <= STEP_OFF * usual);
}

/** Whether lines begin small below lines that had no more room. */
function goOn(lines: readonly Line[], numbers: ReadonlySet<PlacedWord>): boolean {
  const texts = lines.map((line) => line.filter((word) => !numbers.has(word)));
  const right = Math.max(...texts.flat().map(({ box }) => box[2]));
  const onward = texts.filter((line, at) => {
    const above = texts[at - 1] ?? [];
    const isFull = rightOf(above.at(-1)) >= FULL * right;
    return isFull && /^\p{Ll}/u.test(line[0]?.text ?? '') && [above, line].every(isOneText);
  });
  return onward.length >= GO_ON_MIN;
}

const isOneText = (line: Line): boolean => segmentsOf(line, CELL_GAP).length === 1;
