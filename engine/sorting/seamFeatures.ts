import type { Line } from '../document/document.ts';
import type { PageFacts } from './pageFacts.ts';

/** Two pages, one behind the other, and the pages around them. */
export interface Seam {
  readonly before: PageFacts;
  readonly after: PageFacts;
  /** Pages before the first of them, the nearest first. */
  readonly earlier: readonly PageFacts[];
  /** The page behind the second of them. */
  readonly later: PageFacts | undefined;
  /** Blank pages lie between them. */
  readonly hasBlank: boolean;
  /** How many pages of the file have a word. */
  readonly spread: ReadonlyMap<string, number>;
  readonly pages: number;
}

type Words = ReadonlyMap<string, number>;

/** A word that few pages have says more. */
const weightOf = ({ spread, pages }: Pick<Seam, 'spread' | 'pages'>, word: string): number =>
  Math.log(1 + pages / (spread.get(word) ?? 1));

/** Cosine of the words of two pages, 0..1. */
export function likeness(seam: Pick<Seam, 'spread' | 'pages'>, a: Words, b: Words): number {
  let [both, ofA, ofB] = [0, 0, 0];
  for (const [word, times] of a) {
    const weight = Math.sqrt(times) * weightOf(seam, word);
    ofA += weight * weight;
    const other = b.get(word);
    if (other !== undefined) both += weight * Math.sqrt(other) * weightOf(seam, word);
  }
  for (const [word, times] of b) ofB += times * weightOf(seam, word) ** 2;
  return ofA === 0 || ofB === 0 ? 0 : both / Math.sqrt(ofA * ofB);
}

/** Of two sets, what they share of the smaller one. */
function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  let both = 0;
  for (const word of few) if (many.has(word)) both += 1;
  return both / few.size;
}

/** Of two sets, what they share of all. */
function alike(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 0;
  let both = 0;
  for (const word of a) if (b.has(word)) both += 1;
  return both / (a.size + b.size - both);
}

const as = (is: boolean): number => (is ? 1 : 0);

/** A text that goes on: its last line has no end, and the next begins small. */
const isOpen = (line: Line | undefined): boolean =>
  line !== undefined && /[\p{Ll},;–-]\s*$/u.test(line.text) && line.text.length > 30;
const beginsSmall = (line: Line | undefined): boolean =>
  line !== undefined && /^\s*[\p{Ll},;)]/u.test(line.text);

/** The same but for its numbers: what runs along the edge of all pages of a document. */
const withoutNumbers = (text: string): string => text.toLowerCase().replace(/[^\p{L}]/gu, '');
const isSameLine = (a: Line | undefined, b: Line | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  withoutNumbers(a.text).length > 3 &&
  withoutNumbers(a.text) === withoutNumbers(b.text);

/** A list that goes on has the next numbers; another begins with its first. */
const STEPS_MAX = 4;
function numbering({ before, after }: Pick<Seam, 'before' | 'after'>) {
  let [goesOn, begins] = [false, false];
  for (const [style, { first }] of after.outline) {
    const last = before.outline.get(style)?.last;
    if (last !== undefined && first > last && first <= last + STEPS_MAX) goesOn = true;
    if (first === 1 && last !== undefined) begins = true;
  }
  return { goesOn, begins };
}

/** Paper of another size, to two points. */
const isOther = (a: number | null, b: number | null): boolean =>
  (a === null) !== (b === null) || (a !== null && b !== null && Math.abs(a - b) > 2);

type Mark = PageFacts['mark'];

/** What the number of a page says of itself. */
function markAlone(mark: Mark) {
  return {
    isSaid: mark?.isSaid === true,
    isAlone: mark?.isSaid === false,
    isFirst: mark?.number === 1,
    isLater: mark !== undefined && mark.number > 1,
    isLast: mark !== undefined && mark.of === mark.number,
    isNotLast: mark !== undefined && mark.of !== null && mark.number < mark.of,
  };
}

const NO_PAIR = { follows: false, hasOtherTotal: false, jumps: false };

/** What the numbers of two pages say together. */
function markPair(a: Mark, b: Mark): typeof NO_PAIR {
  if (a === undefined || b === undefined) return NO_PAIR;
  const follows = b.number === a.number + 1 && (b.of ?? a.of) === (a.of ?? b.of);
  return {
    follows,
    hasOtherTotal: a.of !== null && b.of !== null && a.of !== b.of,
    jumps: !follows && b.number !== 1 && a.isSaid === b.isSaid,
  };
}

/** Whether a number goes on with that of a page before the last one. */
const resumes = (earlier: readonly PageFacts[], mark: Mark): boolean =>
  mark !== undefined &&
  earlier.some((page, at) => page.mark !== undefined && page.mark.number + at + 2 === mark.number);

/** What the numbers of the two pages say of each other. */
function marks({ before: { mark: a }, after: { mark: b }, earlier }: Seam): Record<string, number> {
  const { follows, hasOtherTotal, jumps } = markPair(a, b);
  const [was, is] = [markAlone(a), markAlone(b)];
  const isSaid = was.isSaid || is.isSaid;
  return {
    begins: as(is.isFirst && is.isSaid),
    begins_alone: as(is.isFirst && is.isAlone),
    goes_on: as(follows && isSaid),
    goes_on_alone: as(follows && !isSaid),
    other_total: as(hasOtherTotal),
    jumps: as(jumps),
    was_last: as(was.isLast),
    was_not_last: as(was.isNotLast && !is.isFirst),
    ...marksOfOne({ a, b }),
    resumes: as(resumes(earlier, b)),
  };
}

/** What is said where one of the two pages may have no number. */
function marksOfOne({ a, b }: { readonly a: Mark; readonly b: Mark }): Record<string, number> {
  const [was, is] = [markAlone(a), markAlone(b)];
  const [wasNone, isNone] = [a === undefined, b === undefined];
  return {
    is_later: as(wasNone && is.isLater && is.isSaid),
    is_later_alone: as(wasNone && is.isLater && is.isAlone),
    second: as(b?.number === 2 && (wasNone || was.isFirst)),
    lost: as(isNone && was.isSaid),
    lost_alone: as(isNone && was.isAlone),
  };
}

/** What the words of the two pages have in common. */
function words(seam: Seam): Record<string, number> {
  const { before, after, earlier, later } = seam;
  const near = likeness(seam, before.words, after.words);
  const past = Math.max(0, ...earlier.map((page) => likeness(seam, page.words, after.words)));
  const next = later === undefined ? near : likeness(seam, before.words, later.words);
  const ahead = later === undefined ? near : likeness(seam, after.words, later.words);
  return {
    unlike: 1 - near,
    very_unlike: as(near < 0.1),
    unlike_past: 1 - Math.max(past, near),
    unlike_next: 1 - next,
    nearer_next: ahead - near,
    nearer_past: earlier[0] === undefined ? 0 : likeness(seam, before.words, earlier[0].words) - near,
    head_unlike: 1 - alike(before.head, after.head),
    head_same: as(alike(before.head, after.head) > 0.6),
    foot_unlike: 1 - alike(before.foot, after.foot),
    foot_same: as(before.foot.size > 2 && alike(before.foot, after.foot) > 0.6),
    rare_shared: rareShared(seam),
  };
}

/** Words that both have and few other pages: 0..1. */
function rareShared({ before, after, spread, pages }: Seam): number {
  const most = Math.max(2, pages / 5);
  let [rare, both] = [0, 0];
  for (const word of after.words.keys()) {
    if ((spread.get(word) ?? 0) > most || word.length < 4) continue;
    rare += 1;
    if (before.words.has(word)) both += 1;
  }
  return rare === 0 ? 0 : both / rare;
}

/** Wider than high. */
const isWide = ({ width, height }: PageFacts): boolean => (width ?? 0) > (height ?? 0);

/** How much larger the one print is than the other, as a logarithm. */
const sizeRatio = (a: PageFacts, b: PageFacts): number =>
  Math.abs(Math.log((a.fontSize || 1) / (b.fontSize || 1)));

/** A page with words in its pictures is no scan. */
const layerOf = ({ source }: PageFacts): PageFacts['source'] => (source === 'both' ? 'text_layer' : source);

/** Paper and print. */
function prints({ before, after }: Seam): Record<string, number> {
  const isText = before.count > 0 && after.count > 0;
  const isSized = before.width !== null && after.width !== null;
  return {
    other_size: as(isOther(before.width, after.width) || isOther(before.height, after.height)),
    turned: as(isSized && isWide(before) !== isWide(after)),
    other_source: as(isText && layerOf(before) !== layerOf(after)),
    other_font: as(isText && sizeRatio(before, after) > 0.25),
    other_margin: as(
      before.margin !== null && after.margin !== null && Math.abs(before.margin - after.margin) > 12,
    ),
  };
}

function titles({ before, after }: Seam): Record<string, number> {
  return {
    big_title: as(after.titleSize >= 1.5),
    same_title: as(before.title !== undefined && before.title.text === after.title?.text),
    lost_title: as(before.titleSize >= 1.3 && after.titleSize < 1.15),
  };
}

/** How the text of one ends, and that of the other begins. */
function looks({ before, after, earlier, hasBlank }: Seam): Record<string, number> {
  const { goesOn, begins } = numbering({ before, after });
  return {
    salutation: as(after.salutation !== undefined),
    closing: as(before.closing !== undefined),
    ends_early: as(before.depth < 0.6),
    full: as(before.depth > 0.85),
    goes_on_in_text: as(isOpen(before.last) && beginsSmall(after.first)),
    open_end: as(isOpen(before.last)),
    small_begin: as(beginsSmall(after.first)),
    has_blank: as(hasBlank),
    same_first_line: as(isSameLine(before.first, after.first)),
    same_last_line: as(isSameLine(before.last, after.last)),
    first_line_again: as(earlier.some((page) => isSameLine(page.first, after.first))),
    last_line_again: as(earlier.some((page) => isSameLine(page.last, after.last))),
    numbering_goes_on: as(goesOn),
    numbering_begins: as(begins),
    annex: as(after.isAnnex),
    sparse_after: as(after.count > 0 && after.count < 40),
  };
}

/** What the numbers and dates on them say. */
function names({ before, after, earlier }: Seam): Record<string, number> {
  const own = shared(before.names, after.names);
  const past = Math.max(own, ...earlier.map((page) => shared(page.names, after.names)));
  const headsDiffer = before.headNames.size > 0 && after.headNames.size > 0;
  return {
    names_shared: as(past > 0),
    names_share: past,
    no_names_shared: as(before.names.size > 0 && after.names.size > 0 && past === 0),
    head_names_shared: as(headsDiffer && shared(before.headNames, after.headNames) > 0),
    head_names_differ: as(headsDiffer && shared(before.headNames, after.headNames) === 0),
    same_form_other_name: as(
      headsDiffer && shared(before.headNames, after.headNames) === 0 && alike(before.head, after.head) > 0.5,
    ),
    dates_shared: as(shared(before.dates, after.dates) > 0),
    dates_differ: as(
      before.dates.size > 0 && after.dates.size > 0 && shared(before.dates, after.dates) === 0,
    ),
  };
}

/** All that is seen of a seam, each 0..1 or -1..1. */
export const seamFeatures = (seam: Seam): Readonly<Record<string, number>> => ({
  ...marks(seam),
  ...words(seam),
  ...prints(seam),
  ...titles(seam),
  ...looks(seam),
  ...names(seam),
});
