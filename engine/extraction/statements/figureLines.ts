import { inSegment } from '../candidates.ts';
import type { Field } from '../fields/fields.ts';
import { asks } from '../fields/wants.ts';
import { textFinding, findingOf, type Finding, type RowFindings } from '../finding.ts';
import { cellValue, STRICTNESS } from '../grids/cellValues.ts';
import { rowChoice } from '../grids/partRows.ts';
import { folded } from '../../kernel/text.ts';
import type { Listed } from '../lists/rowMembers.ts';
import type { Row, Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { lexicon } from '../words/lexicon.ts';

/** Fewer lines are no statement. */
const LINES_MIN = 4;
const ROWS_MAX = 5000;
/** Points between the right edges of one column: brackets and marks stand out of it. */
const EDGE = 14;
const EVIDENCE = { label: 0.75, strictness: STRICTNESS, margin: 0.2, agreement: 0 };

const NUMBER = /^[$€£¥]?\s?[-–—(]?\s?[$€£]?\s?\d[\d.,'\s]*\)?\s?%?\)?$|^[-–—]$/;
/** The number of a note, or of several: "(15, 16)". */
const NOTE = /^\(?\d{1,2}[a-z]?(?:\s?[,.+]\s?\d{1,2}[a-z]?){0,4}\)$|^[$€£¥%]$/;
const YEAR = /(?<!\d)(?:19|20)\d{2}(?!\d)/;

/** A line: what it is called, in one or more lines of text, and its numbers. */
interface Line {
  readonly texts: readonly Segment[];
  readonly numbers: readonly Segment[];
  /** The texts above it that have no number and name it with the lines around. */
  readonly section?: readonly Segment[];
}

interface FigureFields {
  readonly line: Field;
  readonly amounts: readonly Field[];
  /** What the text above some lines names. */
  readonly section: Field | undefined;
}

/** What a list asks for that has a line's name and its figures, one or more; undefined for other lists. */
export function figureMembers(fields: readonly Field[]): FigureFields | undefined {
  const amounts = fields.filter(({ type }) => type === 'number');
  const texts = fields.filter(({ type }) => type === 'string');
  const [line, ...more] = texts.filter((field) => asks(field, 'line'));
  const [section, ...others] = texts.filter((field) => field !== line);
  const isAll = amounts.length > 0 && amounts.length < 4 && amounts.length + texts.length === fields.length;
  return isAll && line !== undefined && more.length + others.length === 0
    ? { line, amounts, section }
    : undefined;
}

/**
 * The lines of a statement, each a text with its numbers right of it, however many such lists stand side by side. The
 * columns are told by the edges of their numbers; the latest year is the first. Only pages that name a kind of
 * statement have such lines; where the list names a kind, those of this kind.
 */
export function figureRows(
  { called }: Listed,
  { line, amounts, section }: FigureFields,
  source: Source,
): readonly RowFindings[] {
  const rows = source.layout.rows.slice(0, ROWS_MAX);
  const pages = [...new Set(rows.map(({ page }) => page))];
  const kinds = kindsOf(pages.map((page) => headOf(rows.filter((row) => row.page === page))));
  const wanted = kindIn([...called.phrases.map((words) => words.join(' ')), called.description].join(' '));
  const choice = rowChoice(called, []);
  return pages.flatMap((page, i) => {
    if (kinds[i] === undefined || kinds[i] !== (wanted ?? kinds[i])) return [];
    const own = rows.filter((row) => row.page === page);
    return blocksOf(own).flatMap((block) =>
      block.lines.flatMap(({ texts, numbers, section: over }): readonly RowFindings[] => {
        const name = nameOf(texts);
        if (name === undefined || choice.isTotal(name.text) || choice.leavesOut(name.text)) return [];
        const found = amounts.flatMap((field, at) => amountAt(block.columns[at], numbers, { field, source }));
        const group = section === undefined ? [] : sectionAt(section, over, source);
        return found.length === 0 ? [] : [new Map([...group, [line.pointer, name], ...found])];
      }),
    );
  });
}

type Kind = 'balance_sheet' | 'income_statement' | 'cash_flows';
const KINDS: readonly Kind[] = ['balance_sheet', 'income_statement', 'cash_flows'];

/** The kind of statement that a text names, the first if it names several. */
function kindIn(text: string): Kind | undefined {
  const plain = folded(text);
  const places = KINDS.map((kind) => {
    const at = lexicon.figures[kind].words.map((words) => plain.indexOf(words)).filter((one) => one >= 0);
    return { kind, at: Math.min(...at) };
  });
  const first = places.reduce((most, one) => (one.at < most.at ? one : most));
  return Number.isFinite(first.at) ? first.kind : undefined;
}

/** The kind of each page: a page without a name goes on with the page before. */
function kindsOf(heads: readonly string[]): readonly (Kind | undefined)[] {
  const kinds: (Kind | undefined)[] = [];
  for (const head of heads) kinds.push(kindIn(head) ?? kinds.at(-1));
  return kinds;
}

/** What stands above the first line of a page, and what follows it nearby. */
const headOf = (rows: readonly Row[]): string => {
  const first = rows.findIndex(({ segments }) => segments.filter(isFigure).length > 0 && segments.length > 1);
  const head = rows.slice(0, first < 0 ? rows.length : Math.max(first, HEAD_ROWS));
  return head.map(({ segments }) => segments.map(({ text }) => text).join(' ')).join(' ');
};
const HEAD_ROWS = 4;

const isFigure = ({ text }: Segment): boolean => NUMBER.test(text) && !YEAR_ALONE.test(text);
const YEAR_ALONE = /^(?:19|20)\d{2}$/;

/** A list with its lines and the right edges of its columns. */
interface Block {
  readonly lines: readonly Line[];
  readonly columns: readonly number[];
}

/** The lists of a page from left to right: texts that have numbers right of them begin at different places. */
function blocksOf(rows: readonly Row[]): readonly Block[] {
  const pieces = rows.flatMap(piecesOf);
  const starts = sidesOf(pieces);
  return starts.flatMap((from, i): readonly Block[] => {
    const to = starts[i + 1] ?? Number.POSITIVE_INFINITY;
    const own = pieces.flatMap(({ texts, numbers }): readonly Line[] => {
      const isIn = texts.every(({ x0 }) => x0 >= from && x0 < to);
      return isIn ? [{ texts, numbers: numbers.filter(({ x1 }) => x1 < to) }] : [];
    });
    const lines = inSections(withWholeNames(own));
    const heads = rows.flatMap(({ segments }) => segments.filter(({ x0 }) => x0 >= from && x0 < to));
    const columns = columnsOf(lines, heads);
    return lines.length < LINES_MIN || columns.length === 0 ? [] : [{ lines, columns }];
  });
}

/** Lines with numbers, each under the text without any that stands nearest above it. */
function inSections(lines: readonly Line[]): readonly Line[] {
  let section: Line['texts'] | undefined;
  return lines.flatMap((line): readonly Line[] => {
    if (line.numbers.length > 0) return section === undefined ? [line] : [{ ...line, section }];
    section = line.texts;
    return [];
  });
}

/** The value of the text above a line for its field. */
function sectionAt(
  field: Field,
  texts: readonly Segment[] | undefined,
  source: Source,
): readonly (readonly [string, Finding])[] {
  const named = texts === undefined ? undefined : nameOf(texts);
  const cell = named && { text: named.text, page: named.page, words: named.words, columnSpan: 1 };
  const value = cellValue(field, cell, { source, evidence: EVIDENCE });
  return value === undefined ? [] : [[field.pointer, value]];
}

/** Each text of a row with the numbers up to the next text. */
function piecesOf({ segments }: Row): readonly Line[] {
  const pieces: { texts: Segment[]; numbers: Segment[] }[] = [];
  for (const segment of segments) {
    if (NOTE.test(segment.text)) continue;
    if (isFigure(segment)) pieces.at(-1)?.numbers.push(segment);
    else if (/\p{L}{2}/u.test(segment.text)) pieces.push({ texts: [segment], numbers: [] });
  }
  return pieces;
}

/** Sums without a name stand in the row of another list's line. */
const OVER = 0.1;

/** Where lists begin: at the left, and where hardly a line reaches over, with some whole lines at either side. */
function sidesOf(pieces: readonly Line[]): readonly number[] {
  const spans = pieces.flatMap(({ texts: [text], numbers }) => {
    const x1 = Math.max(...numbers.map((number) => number.x1));
    return text === undefined || numbers.length === 0 ? [] : [{ x0: text.x0, x1 }];
  });
  const starts = [Number.NEGATIVE_INFINITY];
  for (const left of new Set(spans.map(({ x0 }) => x0).sort((a, b) => a - b))) {
    const from = starts.at(-1) ?? left;
    const before = spans.filter(({ x0, x1 }) => x0 >= from && x1 < left).length;
    const after = spans.filter(({ x0 }) => x0 >= left - EDGE).length;
    const over = spans.filter(({ x0, x1 }) => x0 < left - EDGE && x1 >= left).length;
    const isWhite = over <= OVER * spans.length;
    if (isWhite && before >= LINES_MIN && after >= LINES_MIN) starts.push(left - EDGE);
  }
  return starts;
}

/** Heights from a line to the next within one name, and points that it is set in by. */
const WRAPPED = 1.7;
const INSET = 40;
/** Lines of one name stand nearer than lines with names of their own. */
const NEARER = 0.85;

/** A name of several lines: those below the first are set in and near, or go on with a sentence or a word. */
function withWholeNames(lines: readonly Line[]): readonly Line[] {
  const pitch = pitchOf(lines);
  const whole: Line[] = [];
  for (const line of lines) {
    const last = whole.at(-1);
    const [above, below] = [last?.texts.at(-1), line.texts[0]];
    const goesOn = last?.numbers.length === 0 && isMore(above, below, pitch);
    if (goesOn) whole[whole.length - 1] = { texts: [...last.texts, ...line.texts], numbers: line.numbers };
    else whole.push(line);
  }
  return whole;
}

/** Points from the name of one line to that of the next, as most lines have it. */
function pitchOf(lines: readonly Line[]): number {
  const tops = lines.flatMap(({ texts: [text], numbers }) => (numbers.length > 0 && text ? [text.y0] : []));
  const gaps = tops.flatMap((y, i) => (i > 0 && y > (tops[i - 1] ?? y) ? [y - (tops[i - 1] ?? 0)] : []));
  return gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
}

function isMore(above: Segment | undefined, below: Segment | undefined, pitch: number): boolean {
  if (above === undefined || below === undefined || BEGINS.test(below.text)) return false;
  const [gap, inset] = [below.y0 - above.y0, below.x0 - above.x0];
  if (gap > WRAPPED * (above.y1 - above.y0) || Math.abs(inset) > INSET) return false;
  return (inset > 2 && gap < NEARER * pitch) || BREAKS.test(above.text) || /^[\p{Ll}(]/u.test(below.text);
}

/** "1.", "a)", "II.": a line of its own. */
const BEGINS = /^(?:\d{1,2}|\p{L}|[IVX]{1,5})[.)]\s/u;
const BREAKS = /\p{L}-$/u;

function nameOf(texts: readonly Segment[]): Finding | undefined {
  const finding = textFinding(
    texts.map((segment) => ({ segment, from: 0, to: segment.text.length })),
    EVIDENCE,
  );
  const plain = texts.reduce(
    (name, { text }) =>
      BREAKS.test(name) && /^\p{Ll}/u.test(text) && !JOINS.test(text)
        ? name.slice(0, -1) + text
        : `${name} ${text}`,
    '',
  );
  return finding === undefined ? undefined : { ...finding, value: plain.trim() };
}

/** "Kredit- und": the hyphen stands for a word. */
const JOINS = /^(?:und|oder|and|or|et|ou|y|o|e|en|of|i|a)\s/u;

/** Numbers in so many of the lines make a column. */
const COLUMN_SHARE = 0.2;

/** The right edges of columns, that of the latest year first; numbers of notes are no column. */
function columnsOf(lines: readonly Line[], heads: readonly Segment[]): readonly number[] {
  const edges = new Map<number, Segment[]>();
  for (const number of lines.flatMap(({ numbers }) => numbers)) {
    const known = [...edges.keys()].find((edge) => Math.abs(edge - number.x1) <= EDGE);
    if (known === undefined) edges.set(number.x1, [number]);
    else edges.get(known)?.push(number);
  }
  const columns = [...edges]
    .filter(([, own]) => own.length >= Math.max(2, COLUMN_SHARE * lines.length) && !areNotes(own))
    .map(([edge]) => edge)
    .sort((a, b) => a - b);
  const years = columns.map((edge) => yearOver(edge, heads));
  const [first, last] = [years[0], years.at(-1)];
  const areTurned = first !== undefined && last !== undefined && first < last;
  return areTurned ? columns.toReversed() : columns;
}

const areNotes = (numbers: readonly Segment[]): boolean =>
  numbers.every(({ text }) => /^\d{1,2}$/.test(text));

const yearOver = (edge: number, heads: readonly Segment[]): number | undefined => {
  const over = heads.find(({ x0, x1, text }) => YEAR.test(text) && x0 - EDGE < edge && edge < x1 + EDGE);
  return over === undefined ? undefined : Number(YEAR.exec(over.text)?.[0]);
};

interface AmountField {
  readonly field: Field;
  readonly source: Source;
}

function amountAt(
  edge: number | undefined,
  numbers: readonly Segment[],
  { field, source: { conventions } }: AmountField,
): readonly (readonly [string, Finding])[] {
  const own = numbers.find(({ x1 }) => edge !== undefined && Math.abs(x1 - edge) <= EDGE);
  const number =
    own && inSegment(own, conventions).find(({ kind }) => kind === 'number' || kind === 'percent');
  return number === undefined
    ? []
    : [[field.pointer, findingOf({ ...number, strictness: STRICTNESS }, EVIDENCE)]];
}
