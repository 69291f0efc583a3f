import type { Called, Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import type { Source } from '../source.ts';
import type { RowFindings } from '../tables/rowValues.ts';
import { cellValue } from './cellValues.ts';
import { contextScore } from './context.ts';
import { cellsIn, isEmpty, sameText, type Cell, type Grid, type GridRow } from './grid.ts';
import { headedBy, headerTexts, type Asked, type Headed, type Place } from './headerRows.ts';
import { headerMatcher } from './likeness.ts';
import { lineGrids } from './lineGrids.ts';
import { withoutSums } from './sums.ts';
import { rowChoice, type RowChoice } from './rowChoice.ts';
import { gridsOf } from './tableGrids.ts';

/** Rows that grids have for a list, and how well they answer it. */
export interface GridAnswer {
  readonly rows: readonly RowFindings[];
  /** 0..1: how well headers name the fields. */
  readonly score: number;
}

/** Tables of a document that are looked at. */
const GRIDS_MAX = 400;
/** Below this a table answers something else. */
const ANSWERS = 0.5;
/** Lines that only stand like a table must be headed better than one that is drawn. */
const LINES_ANSWER = 0.85;

/**
 * The rows of the tables whose headers name the fields best, in all places where the same header stands or
 * the table goes on. A table that names too few of them, or holds values of other types, answers nothing.
 */
export function gridRows(fields: readonly Field[], called: Called, source: Source): GridAnswer {
  const none = { rows: [], score: 0 };
  if (fields.length === 0) return none;
  const matcher = headerMatcher(source.labels);
  const asked = { fields, matcher, source };
  const answers = [
    answerOf(gridsOf(source.document).slice(0, GRIDS_MAX), { ...asked, called, least: ANSWERS }),
    answerOf(lineGrids(asked).slice(0, GRIDS_MAX), { ...asked, called, least: LINES_ANSWER }),
  ];
  return answers.reduce((best, one) => (isBetter(one, best) ? one : best), none);
}

/** Scores that are so near say the same. */
const NEAR = 0.12;

/** Headers that fit better; of those that fit alike, the ones with more values below them. */
function isBetter(one: GridAnswer, than: GridAnswer): boolean {
  if (one.rows.length === 0 || than.rows.length === 0) return one.rows.length > 0;
  if (Math.abs(one.score - than.score) > NEAR) return one.score > than.score;
  return valuesIn(one) > valuesIn(than);
}

const valuesIn = ({ rows }: GridAnswer): number => rows.reduce((sum, { size }) => sum + size, 0);

interface Answering extends Asked {
  readonly called: Called;
  /** The score below which nothing is answered. */
  readonly least: number;
}

function answerOf(grids: readonly Grid[], { called, least, ...asked }: Answering): GridAnswer {
  const none = { rows: [], score: 0 };
  const { fields, source } = asked;
  const headed = grids.map((grid) => headedBy(grid, asked));
  const context = (one: Headed): number => contextScore(called, one);
  let best: Headed | undefined;
  for (const one of headed)
    if (one !== undefined && (best === undefined || rank(one, context) > rank(best, context))) best = one;
  if (best === undefined || rank(best, context) < least) return none;
  const choice = rowChoice(called);
  const parts = sections(best, { grids, headed, called });
  return { rows: parts.flatMap((part) => rowsOf(part, { fields, choice, source })), score: best.score };
}

/** What stands above a table decides between tables that are headed alike. */
const rank = (one: Headed, context: (one: Headed) => number): number =>
  one.score + 0.1 * Math.min(2, context(one));

interface Around {
  readonly grids: readonly Grid[];
  readonly headed: readonly (Headed | undefined)[];
  readonly called: Called;
}

/** A stretch of rows under one header. */
interface Part {
  readonly grid: Grid;
  readonly from: number;
  readonly to: number;
  readonly mapped: Headed['mapped'];
}

/** The best table with all that are headed alike, and the tables that go on without a header. */
function sections(best: Headed, { grids, headed, called }: Around): readonly Part[] {
  const header = headerOf(best);
  const parts: Part[] = [];
  const least = contextScore(called, best);
  for (const [i, grid] of grids.entries()) {
    const own = headed[i];
    const alike = own !== undefined && (own === best || isAlike(headerOf(own), header, best.mapped));
    if (alike) parts.push(...partsOf({ ...own, mapped: best.mapped }, { called, least }));
    else if (grid.follows && parts.at(-1)?.grid === grids[i - 1] && goesOn(grid, best))
      parts.push({ grid, from: 0, to: grid.rows.length, mapped: best.mapped });
  }
  return parts;
}

const headerOf = ({ grid, header, depth }: Headed): readonly string[] => headerTexts(grid, header, depth);

const isAlike = (own: readonly string[], header: readonly string[], mapped: Headed['mapped']): boolean =>
  own.length === header.length &&
  [...mapped.values()].every(({ column }) => sameText(own[column] ?? '', header[column] ?? ''));

/** A table at the top of a page with the same columns and no header of its own. */
const goesOn = (grid: Grid, { grid: { columns }, mapped }: Headed): boolean =>
  grid.columns === columns &&
  [...mapped].some(
    ([{ type }, { column }]) =>
      type !== 'string' && grid.rows.slice(0, 3).some((row) => /^\W{0,3}\d/.test(row[column]?.text ?? '')),
  );

/** The stretches of one grid: its header may come again, under another title. */
function partsOf(
  headed: Headed,
  { called, least }: { readonly called: Called; readonly least: number },
): readonly Part[] {
  const { grid, header, depth, mapped } = headed;
  const texts = grid.rows[header] ?? [];
  const again = grid.rows.flatMap((row, i) => (i > header && isSameRow(row, texts) ? [i] : []));
  const starts = [header, ...again];
  return starts.flatMap((start, i) => {
    const to = (starts[i + 1] ?? grid.rows.length) - (starts[i + 1] === undefined ? 0 : depth - 1);
    const own = contextScore(called, { ...headed, header: start });
    return own < least ? [] : [{ grid, from: start + 1, to, mapped }];
  });
}

const isSameRow = (row: GridRow, header: GridRow): boolean =>
  cellsIn(header).length > 0 && row.every((cell, i) => sameText(cell?.text ?? '', header[i]?.text ?? ''));

interface Reading {
  readonly fields: readonly Field[];
  readonly choice: RowChoice;
  readonly source: Source;
}

/** The rows that fit, without sums; a row of one text over several columns names the group of those below. */
function rowsOf({ grid, from, to, mapped }: Part, reading: Reading): readonly RowFindings[] {
  const rows: RowFindings[] = [];
  let group: Cell | undefined;
  for (const row of grid.rows.slice(from, to)) {
    const [only, ...others] = cellsIn(row);
    if (only !== undefined && others.length === 0 && grid.columns > 2) group = only;
    else {
      if (rows.length > 0 && beginsAnother(row, mapped)) break;
      const found = rowFindings(row, { ...reading, mapped, group });
      if (found !== undefined) rows.push(found);
    }
  }
  const whole = wholeRows(rows);
  return reading.choice.asksTotals ? whole : withoutSums(whole, mapped);
}

interface RowReading extends Reading {
  readonly mapped: Part['mapped'];
  readonly group: Cell | undefined;
}

function rowFindings(row: GridRow, reading: RowReading): RowFindings | undefined {
  const { mapped, source, choice, group, fields } = reading;
  if (choice.leavesOut(labelOf(row, mapped))) return undefined;
  const found = valuesOf(row, mapped, source);
  const grouped = groupField(fields, mapped);
  if (found === undefined || grouped === undefined) return found;
  const named = cellValue(grouped, group, { source, evidence: LEFT_EVIDENCE });
  return named === undefined ? found : new Map([...found, [grouped.pointer, named]]);
}

/** Without rows that have less than half of what rows have: signatures, remarks, ends of a page. */
function wholeRows(rows: readonly RowFindings[]): readonly RowFindings[] {
  const sizes = rows.map(({ size }) => size).sort((a, b) => a - b);
  const usual = sizes[Math.floor(sizes.length / 2)] ?? 0;
  return rows.filter(({ size }) => 2 * size >= usual);
}

/** Words in the columns of numbers: another table's header. */
function beginsAnother(row: GridRow, mapped: Part['mapped']): boolean {
  const numeric = [...mapped].flatMap(([{ type }, { column }]) =>
    type === 'number' || type === 'integer' ? (row[column] ?? []) : [],
  );
  return (
    numeric.length > 1 &&
    new Set(numeric).size > 1 &&
    numeric.every(({ text }) => /^\P{N}*\p{L}{3}/u.test(text))
  );
}

const LEFT_EVIDENCE = { label: 0.6, margin: 0.2, agreement: 0 };

/** The only text field that has no column: titles between the rows may say it. */
function groupField(fields: readonly Field[], mapped: Part['mapped']): Field | undefined {
  const left = fields.filter((field) => !mapped.has(field));
  return left.length === 1 && left[0]?.type === 'string' ? left[0] : undefined;
}

/** What a row is called: its first text. */
function labelOf(row: GridRow, mapped: Part['mapped']): string {
  const first = row.find((cell) => !isEmpty(cell));
  const columns = [...mapped].filter(([{ type }]) => type === 'string').map(([, { column }]) => column);
  const own = row[Math.min(...columns)]?.text ?? '';
  return /\p{L}/u.test(first?.text ?? '') ? (first?.text ?? '') : own;
}

/** undefined for a row whose cells are of other types than the fields, or that is nearly empty. */
function valuesOf(row: GridRow, mapped: Part['mapped'], source: Source): Map<string, Finding> | undefined {
  const found = new Map<string, Finding>();
  let misfits = 0;
  for (const [field, place] of mapped) {
    const cell = row[place.column];
    const finding = cellValue(field, cell, { source, evidence: evidenceOf(place) });
    if (finding !== undefined) found.set(field.pointer, finding);
    else if (!isEmpty(cell)) misfits += 1;
  }
  if (misfits > found.size) return undefined;
  return found.size >= Math.min(2, mapped.size) ? found : undefined;
}

const evidenceOf = ({ score }: Place): { label: number; margin: number; agreement: number } => ({
  label: 0.5 + 0.4 * score,
  margin: 0.3,
  agreement: 0,
});
