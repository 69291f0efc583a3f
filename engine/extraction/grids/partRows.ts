import type { Word } from '../../document/document.ts';
import { type Cell, cellsIn, type Grid, type GridRow, type Headed, isEmpty } from './grid.ts';
import type { Called, Field } from '../fields/fields.ts';
import { wholeScore, type HeaderMatcher } from '../words/says.ts';
import { folded } from '../../kernel/text.ts';
import { labelWords } from '../words/labelWords.ts';
import { ALIKE, alike } from '../words/alike.ts';
import type { Finding, RowFindings } from '../finding.ts';
import type { Formulas } from './computed.ts';
import { cellValue, columnEvidence } from './cellValues.ts';
import { goesOn, keyColumns } from './goods.ts';
import { ownCells, partedColumn, type PartedColumn } from './partedCells.ts';
import type { Source } from '../source.ts';
import { lexicon } from '../words/lexicon.ts';

/** A stretch of rows under one header. */
export interface Part {
  readonly grid: Grid;
  readonly from: number;
  readonly to: number;
  readonly mapped: Headed['mapped'];
  /** What names the rows together: the title of the table, or what the rows before it went on with. */
  readonly group: Cell | undefined;
}

/** What rows are read with. */
interface Reading {
  readonly fields: readonly Field[];
  readonly outer: ReadonlySet<Field>;
  readonly choice: RowChoice;
  readonly matcher: HeaderMatcher;
  readonly ofGoods: boolean;
  readonly formulas: Formulas;
  readonly source: Source;
}

/** The rows that fit; a row of one text over several columns names the group of those below. */
export function rowsOf(part: Part, reading: Reading): readonly RowFindings[] {
  const { grid, from, to, mapped } = part;
  const parted = partedColumn(part, reading.fields);
  const keys = reading.ofGoods ? keyColumns(mapped) : [];
  const ditto = keys.length > 0 ? [] : dittoFields(part, reading.outer);
  const asked = { ...reading, mapped, parted, about: aboutOf(part), ditto };
  const rows: RowFindings[] = [];
  let { group } = part;
  let last: Cell | undefined;
  for (const row of grid.rows.slice(from, to)) {
    if (keys.length > 0 && keys.every((column) => isEmpty(row[column]))) {
      last = withMore(rows, row, { mapped, last, source: reading.source });
      continue;
    }
    last = textOf(row, mapped);
    const named = mayBeGroup(row, { grid, mapped, fields: reading.fields });
    if (named !== undefined) group = named;
    else if (reading.choice.selects(row)) {
      const found = rowFindings(row, { ...asked, group, rows });
      if (found !== undefined && !isSum(found, labelOf(row, mapped), { ...reading, rows }))
        rows.push(new Map([...found, ...reading.formulas(row)]));
    }
  }
  return rows;
}

/** The text of a row of goods. */
const textOf = (row: GridRow, mapped: Part['mapped']): Cell | undefined => {
  const own = textIn(mapped);
  return own === undefined ? undefined : row[own[1].column];
};

const textIn = (mapped: Part['mapped']) =>
  [...mapped].find(([{ kind }]) => kind === 'text' || kind === 'party');

/** Adds a line without an amount to the text of the row above; undefined where that has ended. */
function withMore(
  rows: RowFindings[],
  row: GridRow,
  { mapped, last, source }: Pick<RowReading, 'mapped' | 'source'> & { readonly last: Cell | undefined },
): Cell | undefined {
  const [own, current] = [textIn(mapped), rows.at(-1)];
  if (own === undefined || current === undefined) return undefined;
  const [{ pointer }, { column }] = own;
  const [next, finding] = [row[column], current.get(pointer)];
  if (next === undefined || isEmpty(next)) return last;
  if (finding === undefined) {
    const begun = cellValue(own[0], next, { source, evidence: EVIDENCE });
    if (begun !== undefined) rows[rows.length - 1] = new Map([...current, [pointer, begun]]);
    return next;
  }
  if (last === undefined || !goesOn(last, next)) return undefined;
  const text = `${finding.text} ${next.text}`;
  rows[rows.length - 1] = new Map([
    ...current,
    [pointer, { ...finding, value: text, text, words: [...finding.words, ...next.words] }],
  ]);
  return next;
}

/** What sums are called besides: "Net amount", "VAT 19 %" below the items that they are of. */
const SUMS = ['net_total', 'tax_total', 'grand_total'] as const;
const CALLED = 0.8;

/** A row that says less than those above it, and is called as the sums of a document are, or ends as a sum does. */
function isSum(found: RowFindings, label: string, { rows, choice, source }: Reading & RowsAbove): boolean {
  if (choice.asksTotals || rows.length === 0 || rows.every(({ size }) => size <= found.size)) return false;
  if (TOTALS.has(wordsOf(label).at(-1) ?? '') && [...found].some((one) => addsUp(one, rows, { least: 2 })))
    return true;
  const plain = label.replace(/[:\d.,%()]+/g, ' ');
  return SUMS.some((id) => wholeScore(plain, (one) => source.labels.concept(id, one)) >= CALLED);
}

/** Half a cent and what floating point adds. */
const TOLERANCE = 0.0051;

/** Whether a number is the sum of those right above it, `least` or more. */
function addsUp(
  [pointer, { value }]: readonly [string, Finding],
  rows: readonly RowFindings[],
  { least }: { readonly least: number },
): boolean {
  let sum = 0;
  return rows.toReversed().some((row, at) => {
    sum += Number(row.get(pointer)?.value ?? 0);
    return at + 1 >= least && typeof value === 'number' && Math.abs(sum - value) <= TOLERANCE;
  });
}

interface RowsAbove {
  readonly rows: readonly RowFindings[];
}

/** Rows above a header of the same grid that may name what stands below it. */
const ABOVE_MAX = 4;

/** What stands above a part: in its grid, and above that. */
const aboutOf = ({ grid, from }: Part): readonly Cell[] => [
  ...(from > 1 && from <= ABOVE_MAX + 1 ? grid.rows.slice(0, from - 1).flatMap(cellsIn) : []),
  ...grid.about,
];

interface RowReading extends Reading, RowsAbove {
  readonly mapped: Part['mapped'];
  readonly parted: PartedColumn | undefined;
  readonly group: Cell | undefined;
  readonly about: readonly Cell[];
  readonly ditto: readonly Field[];
}

function rowFindings(row: GridRow, reading: RowReading): RowFindings | undefined {
  const { mapped, choice, group, ditto, rows } = reading;
  const label = labelOf(row, mapped);
  if (choice.leavesOut(label)) return undefined;
  const found = valuesOf(row, reading);
  if (found === undefined || (choice.isTotal(label) && !isWhole(found, label, reading))) return undefined;
  return withDitto(new Map([...found, ...groupFindings(group, reading)]), ditto, rows.at(-1));
}

/**
 * "Total hardness" with a unit and limits is no sum: it says all that the rows above it say, in texts too. Nor
 * are goods called "Total Station 500", where a number is not what those above add up to.
 */
function isWhole(found: RowFindings, label: string, { mapped, rows, ofGoods }: RowReading): boolean {
  const before = rows.at(-1);
  const named = wordsOf(label.replace(/[()]/g, ' ')).filter((word) => !TOTALS.has(word));
  if (named.length === 0 || before === undefined || found.size < before.size) return false;
  const told = [...mapped.keys()].filter(({ type, pointer }) => type === 'string' && found.has(pointer));
  const numbers = [...found].filter(([, { value }]) => typeof value === 'number');
  return told.length > 1 || (ofGoods && !numbers.every((one) => addsUp(one, rows, { least: 1 })));
}

/** What a row is called: its first text. */
function labelOf(row: GridRow, mapped: Part['mapped']): string {
  const first = row.find((cell) => !isEmpty(cell));
  const columns = [...mapped].filter(([{ type }]) => type === 'string').map(([, { column }]) => column);
  const own = row[Math.min(...columns)]?.text ?? '';
  return /\p{L}/u.test(first?.text ?? '') ? (first?.text ?? '') : own;
}

/** undefined for a row whose cells are of other types than the fields, or that is nearly empty. */
function valuesOf(
  row: GridRow,
  { mapped, parted, fields, source }: RowReading,
): Map<string, Finding> | undefined {
  const told = mapped.size / Math.max(mapped.size, fields.length);
  const found = new Map<string, Finding>();
  let misfits = 0;
  for (const { field, place, cell } of parted?.cellsOf(row, mapped) ?? ownCells(row, mapped)) {
    const finding = cellValue(field, cell, { source, evidence: columnEvidence(place.score, told) });
    if (finding !== undefined) found.set(field.pointer, finding);
    else if (!isEmpty(cell)) misfits += 1;
  }
  if (misfits > found.size) return undefined;
  return found.size >= Math.min(2, mapped.size) ? found : undefined;
}

/** So many of a column's cells are white, where white stands for what is above it. */
const WHITE_SHARE = 0.25;

/**
 * Members whose value is printed once for several rows: those of rows that hold rows, and what stands in the
 * first column, where white follows a first value.
 */
function dittoFields({ grid, from, to, mapped }: Part, outer: ReadonlySet<Field>): readonly Field[] {
  const places = [...mapped].filter(([{ type }]) => type !== 'boolean');
  const first = Math.min(...places.map(([, { column }]) => column));
  return places.flatMap(([field, { column }]) => {
    if (outer.has(field)) return [field];
    if (column !== first || field.type === 'number' || grid.isTurned) return [];
    const cells = grid.rows.slice(from, to).map((row) => row[column]);
    const white = cells.filter(isEmpty).length;
    return !isEmpty(cells[0]) && white >= WHITE_SHARE * cells.length ? [field] : [];
  });
}

/** A row with the values that the row above it gives to its white cells. */
function withDitto(row: RowFindings, ditto: readonly Field[], before: RowFindings | undefined): RowFindings {
  const added = ditto.flatMap(({ pointer }) => {
    const value = row.has(pointer) ? undefined : before?.get(pointer);
    return value === undefined ? [] : [[pointer, value] as const];
  });
  return added.length === 0 ? row : new Map([...row, ...added]);
}

/** What names a group may fill these. */
interface Grouping {
  readonly fields: readonly Field[];
  readonly outer: ReadonlySet<Field>;
  readonly mapped: Headed['mapped'];
  readonly matcher: HeaderMatcher;
  readonly source: Source;
}

const NAMED = 0.6;
const EVIDENCE = { label: 0.6, margin: 0.2, agreement: 0 };

/** The members of rows that hold rows and have no column; of plain rows, the only one without a column. */
export function groupFields({
  fields,
  outer,
  mapped,
}: Pick<Grouping, 'fields' | 'outer' | 'mapped'>): readonly Field[] {
  const left = fields.filter((field) => !mapped.has(field));
  if (outer.size > 0) return left.filter((field) => outer.has(field));
  return left.length === 1 && left[0]?.type !== 'boolean' ? left : [];
}

/**
 * The cell that stands alone in its row and names the rows below it. In a table of two columns that may be a
 * row without its value; it is a name where a member without a column waits for one.
 */
export function mayBeGroup(
  row: GridRow,
  { grid, mapped, fields }: { readonly grid: Grid } & Pick<Grouping, 'mapped' | 'fields'>,
): Cell | undefined {
  const [only, ...others] = cellsIn(row);
  if (only === undefined || others.length > 0 || grid.isTurned) return undefined;
  return grid.columns > 2 || fields.some((field) => !mapped.has(field)) ? only : undefined;
}

/**
 * The values that the name of a group gives to the members that it is for, the first that its text fits, and those
 * that texts above the table give by the name of the member: "Ward: North".
 */
function groupFindings(
  group: Cell | undefined,
  grouping: Grouping & { readonly about: readonly Cell[] },
): readonly (readonly [string, Finding])[] {
  const labelled = labelledFindings(
    group === undefined ? grouping.about : [group, ...grouping.about],
    grouping,
  );
  if (group === undefined || isEmpty(group) || isLabelled(group, grouping)) return labelled;
  const reading = { source: grouping.source, evidence: EVIDENCE };
  for (const field of groupFields(grouping)) {
    if (labelled.some(([pointer]) => pointer === field.pointer)) continue;
    const named = cellValue(field, group, reading);
    if (named !== undefined) return [...labelled, [field.pointer, named]];
  }
  return labelled;
}

/** For each member without a column the nearest text that names it before a colon. */
const labelledFindings = (
  cells: readonly Cell[],
  grouping: Grouping,
): readonly (readonly [string, Finding])[] =>
  grouping.fields
    .filter((field) => !grouping.mapped.has(field) && field.type !== 'boolean')
    .flatMap((field) => {
      const own = cells.flatMap((cell) => afterLabel(cell, field, grouping.matcher) ?? [])[0];
      const value = cellValue(field, own, { source: grouping.source, evidence: EVIDENCE });
      return value === undefined ? [] : [[field.pointer, value] as const];
    });

const isLabelled = (cell: Cell, { fields, matcher }: Grouping): boolean =>
  fields.some((field) => afterLabel(cell, field, matcher) !== undefined);

/** "Ward: North" names the field itself before its colon. */
function afterLabel(cell: Cell, field: Field, matcher: HeaderMatcher): Cell | undefined {
  const colon = cell.text.indexOf(':');
  if (colon < 0 || matcher(field, cell.text.slice(0, colon)) < NAMED) return undefined;
  const text = cell.text.slice(colon + 1).trim();
  const count = text.split(' ').length;
  return text === '' ? undefined : { ...cell, text, words: afterColon(cell.words.slice(-count), text) };
}

/** The colon may begin the first word of the value: ":90-94". */
const afterColon = ([first, ...rest]: readonly Word[], text: string): readonly Word[] =>
  first === undefined ? [] : [{ ...first, text: text.split(' ')[0] ?? '' }, ...rest];

const TOTALS = lexicon.rows.totals;
const WITHOUT = lexicon.rows.without;

/** Which rows a list leaves out, as its description says. */
interface RowChoice {
  readonly asksTotals: boolean;
  /** By what the row is called it is a sum of others, and none is asked for. */
  readonly isTotal: (label: string) => boolean;
  /** By what the row is called: the description excludes it. */
  readonly leavesOut: (label: string) => boolean;
  /** Whether the row is of the kind that the list is named for. */
  readonly selects: (row: GridRow) => boolean;
}

export function rowChoice({ description, phrases }: Called, parts: readonly Part[]): RowChoice {
  const { asked, excluded, quoted } = parted(description);
  const asksTotals = [...asked, ...phrases.flat()].some((word) => TOTALS.has(word));
  return {
    asksTotals,
    selects: selecting(phrases, parts),
    isTotal: (label) => !asksTotals && TOTALS.has(wordsOf(label)[0] ?? ''),
    leavesOut: (label) => {
      const words = wordsOf(label);
      if (quoted.some((text) => folded(label).startsWith(`${text} `))) return true;
      return words.length > 0 && words.every((word) => excluded.some((other) => alike(word, other) >= ALIKE));
    },
  };
}

/** A column of fewer cells has no kinds, and one of more texts names its rows. */
const KINDS_FROM = 4;
const KINDS_MAX = 100;
/** Shorter values than three letters, and numbers, stand in names by chance: `table_2_rows`, `no_shows`. */
const KIND = /\p{L}{3}/u;

/** Rows of one value of a column, where the list is named for it: `paidInvoices`, where a column says what is paid. */
function selecting(phrases: Called['phrases'], parts: readonly Part[]): RowChoice['selects'] {
  const rows = parts.flatMap(({ grid, from, to }) => (grid.isTurned ? [] : grid.rows.slice(from, to)));
  const columns = Math.max(0, ...parts.map(({ grid }) => grid.columns));
  for (let column = 0; column < columns; column += 1) {
    const named = kindsIn(rows, column).find((kind) =>
      phrases.some((phrase) => names(phrase, labelWords(kind))),
    );
    if (named !== undefined) return (row) => kindOf(row[column]?.text ?? '') === kindOf(named);
  }
  return () => true;
}

const kindOf = (text: string): string => folded(text).trim();

/** The texts of a column that come again and again, as they stand; none of a column that names its rows. */
function kindsIn(rows: readonly GridRow[], column: number): readonly string[] {
  const texts = new Set<string>();
  let filled = 0;
  for (const row of rows) {
    const cell = row[column];
    if (cell === undefined || isEmpty(cell)) continue;
    filled += 1;
    texts.add(cell.text);
    if (texts.size > KINDS_MAX) return [];
  }
  const count = new Set([...texts].map(kindOf)).size;
  if (filled < KINDS_FROM || count < 2 || 2 * count > filled) return [];
  return [...texts].filter((text) => KIND.test(text));
}

/** Whether a name has the words, one after the other, and more. */
const names = (phrase: readonly string[], words: readonly string[]): boolean =>
  words.length > 0 &&
  phrase.some((_, at) => phrase.length > words.length && words.every((word, i) => word === phrase[at + i]));

interface Parted {
  readonly asked: readonly string[];
  readonly excluded: readonly string[];
  /** What stands in quotes among the excluded: how lines begin that are left out. */
  readonly quoted: readonly string[];
}

/** The words before "without", and those after it up to the end of its clause; what is in brackets goes with it. */
function parted(description: string): Parted {
  const all = { asked: [] as string[], excluded: [] as string[], quoted: [] as string[] };
  let [excludes, outside] = [false, false];
  for (const { mark, clause } of clausesOf(folded(description))) {
    const goesOn = mark === '(' ? excludes : mark === ')' && outside;
    if (mark === '(') outside = excludes;
    const [asked, excluded] = goesOn ? ['', clause] : cutAtWithout(clause);
    excludes = goesOn || excluded !== '';
    all.asked.push(...wordsIn(asked));
    all.excluded.push(...wordsIn(excluded));
    all.quoted.push(...[...excluded.matchAll(QUOTED)].flatMap(([, text]) => text ?? []));
  }
  return all;
}

/** Clauses, each with the mark before it. */
const clausesOf = (text: string): readonly { readonly mark: string; readonly clause: string }[] =>
  [...text.matchAll(/(^|[.;:()])([^.;:()]*)/g)].map(([, mark = '', clause = '']) => ({ mark, clause }));

const wordsIn = (text: string): readonly string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

/** What a clause asks for, and what it says from the word that excludes. */
function cutAtWithout(clause: string): readonly [asked: string, excluded: string] {
  for (const { 0: word, index } of clause.matchAll(/[\p{L}\p{N}]+/gu))
    if (WITHOUT.has(word)) return [clause.slice(0, index), `${clause.slice(index + word.length)} `];
  return [clause, ''];
}

const QUOTED = /['"‘“„]([^'"‘’“”„]{2,40})['"’”]/gu;

const wordsOf = (label: string): readonly string[] =>
  labelWords(label.replace(/\(\p{L}?\d{0,2}\)|[*†‡]/gu, ' ')).filter((word) => word.length > 1);
