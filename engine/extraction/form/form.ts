import type { Word } from '../../document/document.ts';
import type { EvidenceKind } from '../finding.ts';
import type { Pair, Spot } from './pair.ts';
import { wordsIn, type Layout, type Segment, type Row } from '../places/layout.ts';
import { above, below, nextOf } from './neighbours.ts';
import { paragraphsOf } from '../places/paragraphs.ts';
import { colonPairs, openedMember } from './colons.ts';
import { columnsIn, inBoxes } from './boxed.ts';
import { nameAndAddress, namedAgain, sidesOf } from './joined.ts';
import {
  isCapacity,
  isInstruction,
  isJoint,
  isPlaceholder,
  isSentence,
  POINTS,
  wordCount,
  NUMBERING,
  isItem,
  isNextItem,
} from './printed.ts';
import { addTo } from '../../kernel/lists.ts';
import { folded } from '../../kernel/text.ts';
import { lexicon } from '../words/lexicon.ts';

/** What a document prints as a form: its labels with their values, and what is never a value. */
export interface Form {
  readonly pairs: readonly Pair[];
  /** What shows itself as a label by a mark, or by its place in a column of labels. */
  readonly labels: ReadonlySet<Segment>;
  /** The labels that a word is the first of the value of, by a colon, a cell or a column of labels. */
  readonly claims: ReadonlyMap<Word, readonly Pair[]>;
  /** The figures that stand under each other below one of several headers. */
  readonly columns: ReadonlySet<Segment>;
  /** The words of numbers of lines and boxes, of blanks and of marks of templates. */
  readonly blanks: ReadonlySet<Word>;
  /** Such a blank, or an instruction. */
  readonly isPrinted: (segment: Segment) => boolean;
}

const LABEL_WORDS_MAX = 12;
const LABEL_CHARACTERS_MAX = 90;
/** Lines of text between a label and what stands below it. */
const BELOW_LINES = 1.6;
/** The same in the boxes of a form whose labels are numbered. */
const ITEM_LINES = 3;
/** Labels under each other that have their values under each other are a column of labels. */
const ALIGNED_MIN = 3;

/** The form of a document, in time linear in its segments. */
export function formOf(layout: Layout): Form {
  const numbering = numberingOf(layout);
  const isBlank = (segment: Segment): boolean =>
    (numbering.has(segment) && NUMBERING.test(segment.text)) || isPlaceholder(segment.text);
  const isPrinted = (segment: Segment): boolean => isBlank(segment) || isInstruction(segment.text);
  const page = { layout, isPrinted };
  const drawn = layout.segments.flatMap((segment): readonly Draft[] =>
    isPrinted(segment)
      ? []
      : draftsOf(segment, page)
          .flatMap((draft) => sidesOf(namedAgain(draft)))
          .flatMap((draft) => nameAndAddress(draft, layout)),
  );
  const tails = new Set(drawn.flatMap(({ tail }) => tail ?? []));
  const all = drawn.filter(({ at }) => !tails.has(at));
  const boxHeads = boxHeadsOf(all);
  const crossings = crossingsOf(layout);
  const drafts = all.filter(unlessIn(crossings, all)).map(inBoxes(all, layout));
  const counts = new Map<string, number>();
  for (const draft of drafts)
    for (const column of columnsOf(draft)) counts.set(column, (counts.get(column) ?? 0) + 1);
  const kinds = drafts.map((draft) => {
    const isColumn = columnsOf(draft).some((column) => (counts.get(column) ?? 0) >= ALIGNED_MIN);
    return isColumn ? 'right' : draft.kind;
  });
  const owners = new Set(drafts.filter((_, i) => SURE.has(kinds[i] ?? 'under')).map(({ at }) => at));
  const heads = { boxHeads, owners };
  const pairs = drafts.map((draft, i): Pair => ({
    ...draft,
    kind: kinds[i] ?? draft.kind,
    context: contextOf(draft.at, page, heads),
  }));
  const isSure = (draft: Draft | undefined): boolean =>
    draft !== undefined && (SURE.has(draft.kind) || (isSmallHead(draft) && boxHeads.isHead(draft.at)));
  const sure = pairs.filter((_, i) => isSure(drafts[i]));
  const labels = new Set(sure.map(({ at }) => at));
  const blanks = new Set([
    ...layout.segments.filter(isBlank).flatMap(({ words }) => words),
    ...[...numbering].flatMap(({ words }) => [...words.slice(0, 1), ...laterNumbers(words)]),
  ]);
  return {
    pairs: [...pairs, ...crossings],
    labels,
    claims: claimsOf(sure),
    columns: columnsIn(pairs, layout),
    blanks,
    isPrinted,
  };
}

/**
 * What stands right of a label is its value, unless a table says more of it, or it is itself the small label of
 * what stands below it.
 */
function unlessIn(crossings: readonly Pair[], all: readonly Draft[]): (draft: Draft) => boolean {
  const crossed = new Set(crossings.map(({ value }) => value.segment));
  const heads = new Set(all.filter(isSmallHead).map(({ at }) => at));
  return ({ at, value, kind }) =>
    (kind !== 'beside' && kind !== 'right') ||
    (!crossed.has(value.segment) && (POINTS.test(at.text) || !heads.has(value.segment)));
}

const SURE: ReadonlySet<EvidenceKind> = new Set<EvidenceKind>(['colon', 'right', 'cell']);

type Draft = Omit<Pair, 'context'> & {
  /** The second line of a label that its box had no room for. */
  readonly tail?: Segment;
};
function claimsOf(sure: readonly Pair[]): ReadonlyMap<Word, readonly Pair[]> {
  const claims = new Map<Word, Pair[]>();
  for (const pair of sure) {
    const { segment, from, to } = pair.value;
    const [first] = wordsIn(segment, from, to);
    if (first === undefined) continue;
    addTo(claims, first, pair);
  }
  return claims;
}

interface Page {
  readonly layout: Layout;
  readonly isPrinted: (segment: Segment) => boolean;
}

const whole = (segment: Segment): Spot => ({ segment, from: 0, to: segment.text.length });

function draftsOf(segment: Segment, page: Page): readonly Draft[] {
  const own = colonPairs(segment.text).map(({ label, from, to }): Draft => ({
    label,
    at: segment,
    value: { segment, from, to },
    kind: 'colon',
  }));
  const open = openLabel(segment.text, own.at(-1));
  if (open === undefined) return own;
  const under = belowOf(segment, open, page);
  const beside = besideOf(segment, open, page).map((draft): Draft => {
    const isBoth = draft.kind === 'right' && under.some(({ kind }) => kind === 'below') && !POINTS.test(open);
    return isBoth ? { ...draft, kind: 'beside' } : draft;
  });
  return [...own, ...beside, ...under];
}

/** The text that waits for a value elsewhere: all of a short text, or its end from the last value on. */
function openLabel(text: string, last: Draft | undefined): string | undefined {
  if (last !== undefined) return undefined;
  const isShort = text.length <= LABEL_CHARACTERS_MAX && wordCount(text) <= LABEL_WORDS_MAX;
  const isLabel = POINTS.test(text) || !isSentence(text) || (isItem(text) && text.trimEnd().endsWith('?'));
  return isShort && /\p{L}/u.test(text) && isLabel && !isCapacity(text) ? text : undefined;
}

/** Marks and units between a label and its value. */
const JOINTS_MAX = 3;

function besideOf(segment: Segment, label: string, { layout, isPrinted }: Page): readonly Draft[] {
  const next = valueBeside(segment, layout);
  if (next === undefined || isNone(next, segment, isPrinted) || areOfItems([segment, next], layout))
    return [];
  const isCell = segment.words.every(({ box }) => box === null);
  const kind = isCell ? 'cell' : isMarked(segment, next) ? 'right' : 'beside';
  return [{ label, at: segment, value: valueSpot(next), kind }];
}

/** The next on the row, past marks, and past a unit where a number follows it. */
function valueBeside(segment: Segment, layout: Layout): Segment | undefined {
  let next = nextOf(segment, layout);
  for (let i = 0; i < JOINTS_MAX && next !== undefined; i += 1) {
    const after = nextOf(next, layout);
    if (!isJoint(next.text) && !(isUnit(next.text) && /\d/.test(after?.text ?? ''))) break;
    next = after;
  }
  return next;
}

/** A unit may stand between a label and its number. */
const isUnit = (text: string): boolean =>
  /^(?:[\p{L}°º%²³/]{1,4}|\([\p{L}°º%²³/]{1,4}\))$/u.test(text) &&
  !/^\p{Lu}\p{Ll}/u.test(text) &&
  !lexicon.choices.yes.has(folded(text)) &&
  !lexicon.choices.no.has(folded(text));

const valueSpot = (segment: Segment): Spot => ({
  ...whole(segment),
  from: /^[:▶►\s]*/u.exec(segment.text)?.[0].length ?? 0,
});

function belowOf(segment: Segment, label: string, { layout, isPrinted }: Page): readonly Draft[] {
  const height = Math.max(6, segment.y1 - segment.y0);
  const next = belowNoise(segment, layout, (isItem(label) ? ITEM_LINES : BELOW_LINES) * height);
  if (next === undefined || isNone(next, segment, isPrinted)) return [];
  const wrapped = wrappedOver(segment, next, layout);
  if (wrapped !== undefined && !isPrinted(wrapped)) {
    const both = /\p{L}-$/u.test(label) ? label + next.text : `${label} ${next.text}`;
    return [{ label: both, at: segment, value: whole(wrapped), kind: 'below', tail: next }];
  }
  return [{ label, at: segment, value: whole(next), kind: isMarked(segment, next) ? 'below' : 'under' }];
}

/** Is printed, or is itself a label: by its mark, or by a number that follows the number of the label before it. */
const isNone = (value: Segment, label: Segment, isPrinted: Page['isPrinted']): boolean =>
  isPrinted(value) || POINTS.test(value.text) || isNextItem(value.text, label.text);

/** Two values beside each other below the numbered labels of one row: neither is the label of the other. */
function areOfItems(values: readonly Segment[], layout: Layout): boolean {
  const rows = values.map((value) => {
    const over = above(value, layout).find(({ text }) => !isNoise(text));
    const isNear = over !== undefined && value.y0 - over.y1 <= ITEM_LINES * (over.y1 - over.y0);
    return isNear && isItem(over.text) ? over.row : undefined;
  });
  return rows[0] !== undefined && rows.every((row) => row === rows[0]);
}

/** A speck that recognition takes for a letter. */
const isNoise = (text: string): boolean => /^[a-z]?$/.test(text.replace(/[^\p{L}\p{N}]/gu, ''));

/** What stands below, past a speck that something stands below in its turn. */
function belowNoise(segment: Segment, layout: Layout, reach: number): Segment | undefined {
  const next = below(segment, layout, reach);
  return next === undefined || !isNoise(next.text) ? next : (below(next, layout, reach) ?? next);
}

/** Lines of one small label stand closer than this, in heights of a line. */
const TIGHT = 0.35;

/** What stands below a small label of two lines, in larger letters; undefined where the next line is no part of it. */
function wrappedOver(first: Segment, second: Segment, layout: Layout): Segment | undefined {
  const height = first.y1 - first.y0;
  if (second.y0 - first.y1 > TIGHT * height || !looksLike(first, second)) return undefined;
  const value = below(second, layout, BELOW_LINES * height);
  return value !== undefined && isSmaller(first, value) ? value : undefined;
}

/** Shows itself as a label of what stands beside it: a mark at its end, its number, smaller letters, or bold ones. */
function isMarked(label: Segment, value: Segment): boolean {
  if (POINTS.test(label.text) || isItem(label.text)) return true;
  return isSmaller(label, value) || (lookOf(label).bold && !lookOf(value).bold);
}

/** The columns that a label and its value stand in: values begin, or end, under each other. */
const columnsOf = ({ at, value: { segment }, kind }: Draft): readonly string[] => {
  if (kind !== 'beside') return [];
  const label = `${at.page} ${Math.round(at.x0 / 4)}`;
  return [`${label} from ${Math.round(segment.x0 / 4)}`, `${label} to ${Math.round(segment.x1 / 4)}`];
};

interface Heads {
  readonly boxHeads: BoxHeads;
  /** The labels that have a value beside them. */
  readonly owners: ReadonlySet<Segment>;
}

/** A section may have so many rows of labels below its heading. */
const SECTION_ROWS_MAX = 16;

/** The nearest text above in the column that has no value of its own and is no sentence. */
function contextOf(segment: Segment, { layout, isPrinted }: Page, { boxHeads, owners }: Heads): string {
  const isOther = (other: Segment): boolean =>
    owners.has(other) ||
    boxHeads.isOfBox(other, segment) ||
    isPrinted(other) ||
    !/\p{L}{3}/u.test(other.text) ||
    isSentence(paragraphsOf(layout).of.get(other)?.paragraph.text ?? other.text);
  const isAlone = (other: Segment): boolean => {
    const next = nextOf(other, layout);
    return next === undefined || next.x0 - other.x1 > 40 || !/\d/.test(next.text);
  };
  const heading = above(segment, layout, SECTION_ROWS_MAX).find(
    (other) =>
      openedMember(other.text) !== undefined ||
      (!isOther(other) && isAlone(other) && !/:\s*\S/.test(other.text)),
  );
  return heading === undefined ? '' : (openedMember(heading.text) ?? heading.text);
}

/** How the letters of a text look. */
interface Look {
  /** Points; 0 where the format has none. */
  readonly size: number;
  readonly bold: boolean;
}

/** Of a value's letters: a label is set smaller than this. */
const SMALLER = 0.88;

const lookOf = ({ words }: Segment): Look => ({
  size: words[0]?.fontSize ?? 0,
  bold: words.length > 0 && words.every(({ bold }) => bold),
});

/** Whether a text is set in smaller letters than another, as labels are. */
function isSmaller(one: Segment, than: Segment): boolean {
  const { size } = lookOf(one);
  return size > 0 && size < SMALLER * lookOf(than).size;
}

/** Whether two texts are set in letters of one size and weight. */
function looksLike(one: Segment, other: Segment): boolean {
  const [a, b] = [lookOf(one), lookOf(other)];
  return a.size > 0 && Math.abs(a.size - b.size) < 0.05 * a.size && a.bold === b.bold;
}

/** So many small labels of one size above their values make a page a form of boxes. */
const HEADS_MIN = 3;

/** The boxes of a form: small labels at their tops, and the values below them. */
interface BoxHeads {
  /** Whether a label is the small head of a box. */
  readonly isHead: (segment: Segment) => boolean;
  /** Whether a text can be no heading of the label of a box: the label or the value of another one. */
  readonly isOfBox: (text: Segment, label: Segment) => boolean;
}

/** A date or a longer number is a value in small letters, and no label. */
const HAS_VALUE = /\d{3}/;

type Drawn = Pick<Pair, 'label' | 'at' | 'value' | 'kind'>;

/** Whether a label stands in small letters above what it names. */
const isSmallHead = ({ at, value, kind }: Pick<Drawn, 'at' | 'value' | 'kind'>): boolean =>
  kind === 'below' && isSmaller(at, value.segment);

/** The boxes of a document, by labels that come at least three times a page in letters of one size. */
function boxHeadsOf(drafts: readonly Drawn[]): BoxHeads {
  const small = drafts.filter((draft) => isSmallHead(draft) && !HAS_VALUE.test(draft.label));
  const counts = new Map<string, number>();
  for (const { at } of small) counts.set(sizeKey(at), (counts.get(sizeKey(at)) ?? 0) + 1);
  const boxed = small.filter(({ at }) => (counts.get(sizeKey(at)) ?? 0) >= HEADS_MIN);
  const heads = new Set(boxed.map(({ at }) => at));
  const values = new Set(boxed.map(({ value }) => value.segment));
  return {
    isHead: (segment) => heads.has(segment),
    isOfBox: (text, label) =>
      heads.has(label) && (values.has(text) || looksLike(text, label) || isSmaller(text, label)),
  };
}

const sizeKey = ({ page, words }: Segment): string =>
  `${String(page)} ${String(Math.round(2 * (words[0]?.fontSize ?? 0)))}`;

/** Points that numbers of one column may stand apart. */
const ALIGNED = 6;
const NUMBERED_MIN = 4;
/** A line may have no number of its own, or several. */
const STEP_MAX = 3;
const ASCENDING_SHARE = 0.7;

/**
 * The numbers of a form's lines and boxes: small numbers under each other that go up by about one. A column
 * of amounts does not.
 */
function numberingOf({ rows, segments }: Layout): ReadonlySet<Segment> {
  const columns = new Map<string, Segment[]>();
  for (const segment of segments) {
    if (!NUMBERING.test(firstOf(segment))) continue;
    for (const key of numberColumnsOf(segment)) {
      addTo(columns, key, segment);
    }
  }
  return new Set([...[...columns.values()].filter(isAscending).flat(), ...rows.flatMap(twice)]);
}

/** The numbers of more labels in the text of a numbered one: "15 State ID no. 16 State wages". */
function laterNumbers([first, ...words]: readonly Word[]): readonly Word[] {
  let last = Number.parseInt(first?.text ?? '', 10);
  return words.filter(({ text }, i) => {
    const number = NUMBERING.test(text) ? Number.parseInt(text, 10) : NaN;
    const isNext =
      number > last && number - last <= STEP_MAX && /^\p{Lu}\p{L}/u.test(words[i + 1]?.text ?? '');
    if (isNext) last = number;
    return isNext;
  });
}

/** A line's number, which may stand in one text with its label. */
const firstOf = ({ text }: Segment): string => text.split(' ', 1)[0] ?? '';

/** The column by its left and its right side; each place counts for two columns that overlap by half. */
const numberColumnsOf = ({ page, x0, x1 }: Segment): readonly string[] =>
  [
    `l${Math.floor(x0 / ALIGNED)}`,
    `L${Math.round(x0 / ALIGNED)}`,
    `r${Math.floor(x1 / ALIGNED)}`,
    `R${Math.round(x1 / ALIGNED)}`,
  ].map((side) => `${page} ${side}`);

/** Forms print a line's number at its beginning and again before its box. */
function twice({ segments }: Row): readonly Segment[] {
  const numbers = segments.filter(({ text }) => NUMBERING.test(text));
  const own = numbers.filter(({ text }) => text === segments[0]?.text);
  return own.length > 1 && segments.some(({ text }) => /\p{L}{3}/u.test(text)) ? own : [];
}

function isAscending(column: readonly Segment[]): boolean {
  if (column.length < NUMBERED_MIN) return false;
  const numbers = column.map((segment) => Number(NUMBERING.exec(firstOf(segment))?.[1]));
  const steps = numbers.slice(1).map((number, i) => number - (numbers[i] ?? 0));
  const going = steps.filter((step) => step >= 0 && step <= STEP_MAX).length;
  const moved = steps.filter((step) => step > 0).length;
  return going >= ASCENDING_SHARE * steps.length && moved * 2 >= steps.length;
}

/** Rows of a header over several lines. */
const HEADER_ROWS_MAX = 3;
const CELLS_MAX = 20;
/** Points that a cell may stand beside its header. */
const NEAR = 60;

const isNumber = (text: string): boolean => /\d/.test(text) && !/\p{L}{4}/u.test(text);
const isYear = (text: string): boolean => /^[12]\d{3}$/.test(text);

interface Header {
  readonly page: number;
  readonly rows: readonly Row[];
  /** What stands alone above it. */
  readonly title: string;
}

/**
 * The cells of tables of numbers, each with its row's label and the headers over its column: `Fuse` and `24 V`.
 * One walk over the rows, which remembers the header it met last.
 */
function crossingsOf({ rows }: Layout): readonly Pair[] {
  let header: Header = { page: 0, rows: [], title: '' };
  let isOpen = false;
  return rows.flatMap((row, i): readonly Pair[] => {
    if (row.page !== header.page) header = { page: row.page, rows: [], title: '' };
    const cells = cellsOf(row);
    if (cells.length >= 2) {
      isOpen = false;
      return crossed(row, cells, header);
    }
    if (!isHeader(row)) return [];
    header = isOpen
      ? { ...header, rows: [...header.rows, row].slice(-HEADER_ROWS_MAX) }
      : { page: row.page, rows: [row], title: titleAbove(rows[i - 1]) };
    isOpen = true;
    return [];
  });
}

const isHeader = ({ segments }: Row): boolean =>
  segments.length >= 2 && segments.every(({ text }) => !isNumber(text) || isYear(text));

const TITLE_MAX = 60;

/** A short text alone on the row above a header is its title. */
function titleAbove(row: Row | undefined): string {
  const [only, ...others] = row?.segments ?? [];
  return only === undefined || others.length > 0 || only.text.length > TITLE_MAX ? '' : only.text;
}

/** The numbers right after a row's label; none of years alone, for those are a header. */
function cellsOf({ segments: [first, ...others] }: Row): readonly Segment[] {
  if (first === undefined || !/\p{L}{2}/u.test(first.text)) return [];
  const end = others.findIndex(({ text }) => !isCell(text));
  const cells = others.slice(0, end < 0 ? others.length : end).filter(({ text }) => isNumber(text));
  return cells.every(({ text }) => isYear(text)) ? [] : cells.slice(0, CELLS_MAX);
}

const isCell = (text: string): boolean => isNumber(text) || !/\p{L}/u.test(text);

function crossed({ segments: [label] }: Row, cells: readonly Segment[], header: Header): readonly Pair[] {
  if (label === undefined || header.rows.length === 0) return [];
  return cells.map((cell): Pair => {
    const over = header.rows.flatMap((row) => headerOver(cell, row)?.text ?? []);
    const context = [header.title, ...over].join(' · ');
    const value = { segment: cell, from: 0, to: cell.text.length };
    return { label: label.text, at: label, context, value, kind: 'cross' };
  });
}

/** The header nearest to a cell: headers of groups stand in the middle of several columns. */
function headerOver(cell: Segment, { segments }: Row): Segment | undefined {
  const distance = (one: Segment): number => Math.max(0, one.x0 - cell.x1, cell.x0 - one.x1);
  const nearest = segments
    .slice(0, CELLS_MAX)
    .reduce<Segment | undefined>(
      (best, one) => (best === undefined || distance(one) < distance(best) ? one : best),
      undefined,
    );
  return nearest !== undefined && distance(nearest) <= NEAR ? nearest : undefined;
}
