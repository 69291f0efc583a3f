import { inSegment } from '../candidates.ts';
import type { Called, Field } from '../fields/fields.ts';
import { rowChoice } from '../grids/partRows.ts';
import { wordsTold } from '../grids/sections.ts';
import { wholeScore } from '../words/says.ts';
import { textFinding, type Finding, type RowFindings } from '../finding.ts';
import { isSentence } from '../form/printed.ts';
import { below } from '../form/neighbours.ts';
import type { Row, Segment } from '../places/layout.ts';
import { labelIndexOf } from '../singles/labelIndex.ts';
import { shapeOf } from '../singles/shapes.ts';
import type { Source } from '../source.ts';
import { timesIn } from '../values/numbers.ts';
import type { Listed } from './rowMembers.ts';

/** So many lines of one form are a list. */
const LINES_MIN = 3;
const LINES_MAX = 400;
const TEXT_MAX = 100;
/** Points that what is set under each other may stand apart. */
const EDGE = 6;
const EVIDENCE = { label: 0.7, strictness: 0.6, margin: 0.2, agreement: 0 };
/** A list that no header and no label names. */
const LABELLED = 0.85;

interface Part {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
}

interface TypedLine {
  readonly typed: Finding;
  readonly text: Part;
  /** Where the line's edge must agree with the others'. */
  readonly edge: number;
  /** Where its amount ends. */
  readonly end?: number;
}

/**
 * Lines without a header that all have one form: a time before a text, as programmes have them, or a price at the
 * end of the line, as price lists do. A second text is the line right below.
 */
export function typedLines({ fields, called, outer }: Listed, source: Source): readonly RowFindings[] {
  const ticked = tickedLines(fields, source);
  if (ticked.length > 0) return ticked;
  const [typed, ...others] = fields.filter((field) => isTime(field) || field.type === 'number');
  const [text, more, ...rest] = fields.filter((field) => field !== typed && field.type === 'string');
  if (typed === undefined || text === undefined || outer.size > 0 || others.length + rest.length > 0)
    return [];
  if (isTime(typed)) return withMore(timed(source), [typed, text, more], source);
  return more === undefined ? withMore(priced(called, source), [typed, text, undefined], source) : [];
}

/** The rows of a check list: a text beside each box, and whether the box is ticked. */
function tickedLines(fields: readonly Field[], source: Source): readonly RowFindings[] {
  const [isDone, ...more] = fields.filter(({ type }) => type === 'boolean');
  const [text, ...others] = fields.filter((field) => field !== isDone);
  if (isDone === undefined || text?.type !== 'string' || more.length + others.length > 0) return [];
  const rows = labelIndexOf(source)
    .boxes.slice(0, LINES_MAX)
    .flatMap((box) => {
      const [own, mark] = [textFinding([box.value], EVIDENCE), textFinding([box], EVIDENCE)];
      if (own === undefined || mark === undefined || !/\p{L}{2}/u.test(own.text)) return [];
      return [
        new Map([
          [text.pointer, own],
          [isDone.pointer, { ...mark, value: box.isTicked }],
        ]),
      ];
    });
  return rows.length >= LINES_MIN ? rows : [];
}

const isTime = (field: Field): boolean => shapeOf(field) === 'time';

type LineFields = readonly [typed: Field, text: Field, more: Field | undefined];

function withMore(
  lines: readonly TypedLine[],
  [typed, text, more]: LineFields,
  source: Source,
): readonly RowFindings[] {
  const begun = new Set(lines.map((line) => line.text.segment));
  return lines.map((line) => {
    const found = new Map([[typed.pointer, line.typed]]);
    const own = textFinding([line.text], EVIDENCE);
    if (own !== undefined) found.set(text.pointer, own);
    const next = more === undefined ? undefined : goesOnBelow(line.text.segment, begun, source);
    if (more !== undefined && next !== undefined) found.set(more.pointer, next);
    return found;
  });
}

/** What stands right below a line, up to its first comma. */
function goesOnBelow(segment: Segment, begun: ReadonlySet<Segment>, { layout }: Source): Finding | undefined {
  const next = below(segment, layout, segment.y1 - segment.y0);
  if (next === undefined || Math.abs(next.x0 - segment.x0) >= EDGE) return undefined;
  if (begun.has(next) || isSentence(next.text)) return undefined;
  const [name = ''] = next.text.split(', ', 1);
  return textFinding([{ segment: next, from: 0, to: name.length }], EVIDENCE);
}

const BEFORE_TEXT = /^\s?(?:[-–—:|]\s?)?(?=\p{L})/u;

/** "09:00 Registration and coffee". */
const timed = ({ layout }: Source): readonly TypedLine[] =>
  aligned(
    layout.segments.flatMap((segment): readonly TypedLine[] => {
      const [time] = timesIn(segment.text);
      const gap = time?.from === 0 ? BEFORE_TEXT.exec(segment.text.slice(time.to)) : null;
      const typed =
        time === undefined ? undefined : textFinding([{ segment, from: 0, to: time.to }], EVIDENCE);
      if (time === undefined || gap === null || typed === undefined || !isName(segment.text.slice(time.to)))
        return [];
      const from = time.to + gap[0].length;
      return [{ typed, text: { segment, from, to: segment.text.length }, edge: segment.x0 }];
    }),
  );

/** "Charcuterie board   £8.25": a text and its price in a line; whole amounts in one run of lines alone. */
const priced = (called: Called, source: Source): readonly TypedLine[] => {
  const lines = source.layout.rows.flatMap((row) => pricedIn(row, source));
  const prices = aligned(lines.filter(({ typed }) => PRICE.test(typed.text)));
  return prices.length > 0 ? prices : aligned(bestRun(lines, called, source));
};

/** Amounts behind a text: this year's and others', of which the first counts. */
const AMOUNTS_MAX = 3;
/** A row of more texts is no line of words and amounts. */
const SEGMENTS_MAX = 40;

/** The texts of a row that have amounts alone at their right: two lists may stand beside each other. */
function pricedIn({ segments }: Row, source: Source): readonly TypedLine[] {
  if (segments.length > SEGMENTS_MAX) return [];
  const amounts = segments.map((segment) => amountIn(segment, source));
  return segments.flatMap((segment, i): readonly TypedLine[] => {
    const end = amounts.findIndex((amount, at) => at > i && amount === undefined);
    const own = amounts.slice(i + 1, end < 0 ? segments.length : end);
    const [first] = own;
    if (own.every((amount) => YEAR.test(amount?.typed.text ?? ''))) return [];
    if (first === undefined || own.length > AMOUNTS_MAX || amounts[i] !== undefined || !isName(segment.text))
      return [];
    if (wholeScore(segment.text, (words) => source.labels.any(words)) >= LABELLED) return [];
    const text = { segment, from: 0, to: segment.text.length };
    return [{ ...first, text, edge: segment.x0 }];
  });
}

/** The head of columns. */
const YEAR = /^(?:19|20)\d{2}$/;

/** The amount that a text is; undefined where it is more, or something else. */
function amountIn(segment: Segment, source: Source): Pick<TypedLine, 'typed' | 'end'> | undefined {
  const price = inSegment(segment, source.conventions).find(
    ({ kind, from, to }) => kind === 'number' && isAll(segment.text, { from, to }),
  );
  const typed = textFinding([{ segment, from: 0, to: segment.text.length }], EVIDENCE);
  if (price === undefined || typed === undefined) return undefined;
  return { typed: { ...typed, value: price.value }, end: segment.x1 };
}

/** Rows that whole amounts may stand apart, and in which their heading stands above them. */
const ROWS_APART = 2;

/**
 * Lines under each other whose amounts end at one place, without sums: of several such runs the one below the heading
 * that has most words of the list, of equals the longest, with those that stand beside it. A list of sums has none,
 * for no line's form tells a sum.
 */
function bestRun(lines: readonly TypedLine[], called: Called, { layout }: Source): readonly TypedLine[] {
  const { asksTotals, isTotal } = rowChoice(called, []);
  if (asksTotals) return [];
  const runs = runsOf(lines.filter(({ text: { segment } }) => !isTotal(segment.text))).filter(
    ({ length }) => length >= LINES_MIN,
  );
  const [best] = runs
    .map((run) => ({ run, told: wordsTold(called, textsAbove(run, layout.rows)) }))
    .sort((a, b) => b.told - a.told || b.run.length - a.run.length);
  const rows = new Set(best?.run.map(rowAt));
  return runs.filter((run) => run.some((line) => rows.has(rowAt(line)))).flat();
}

const rowAt = ({ text }: TypedLine): number => text.segment.row;

function textsAbove([first]: readonly TypedLine[], rows: readonly Row[]): readonly string[] {
  const at = first?.text.segment.row ?? 0;
  return rows
    .slice(Math.max(0, at - ROWS_APART), at)
    .flatMap(({ segments }) => segments.map(({ text }) => text));
}

function runsOf(lines: readonly TypedLine[]): readonly (readonly TypedLine[])[] {
  const runs: TypedLine[][] = [];
  for (const line of lines.slice(0, LINES_MAX)) {
    const run = runs.slice(-RUNS_MAX).find((one) => isNext(one.at(-1), line));
    if (run === undefined) runs.push([line]);
    else run.push(line);
  }
  return runs;
}

/** Runs that may be open at once. */
const RUNS_MAX = 8;

const isNext = (last: TypedLine | undefined, line: TypedLine): boolean =>
  last !== undefined &&
  line.text.segment.row - last.text.segment.row <= ROWS_APART &&
  Math.abs((line.end ?? 0) - (last.end ?? 0)) < EDGE;

const PRICE = /\d[.,]\d{2}\D*$/u;
const isAll = (text: string, { from, to }: Pick<Part, 'from' | 'to'>): boolean =>
  !/[\p{L}\p{N}]/u.test(text.slice(0, from) + text.slice(to));
const isName = (text: string): boolean =>
  /\p{L}{3}/u.test(text) && text.length <= TEXT_MAX && !/:\s*$/.test(text) && !isSentence(text);

/** Lines whose edge so many others share that they are a list, column by column. */
function aligned(lines: readonly TypedLine[]): readonly TypedLine[] {
  const some = lines.slice(0, LINES_MAX);
  const areOf = (one: TypedLine, other: TypedLine): boolean => Math.abs(other.edge - one.edge) < EDGE;
  return some
    .filter((one) => some.filter((other) => areOf(one, other)).length >= LINES_MIN)
    .sort((a, b) => a.typed.page - b.typed.page || (areOf(a, b) ? 0 : a.edge - b.edge));
}
