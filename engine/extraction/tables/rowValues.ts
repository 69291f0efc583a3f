import { productsOf, type Grid } from '../values/arithmetic.ts';
import { inSegment } from '../candidates.ts';
import type { Field } from '../fields/fields.ts';
import { findItems } from './itemRows.ts';
import { findingOf, textFinding, type Finding } from '../finding.ts';
import type { Row, Segment } from '../places/layout.ts';
import { columnEvidence, STRICTNESS, type CellReading } from '../grids/cellValues.ts';
import type { Source } from '../source.ts';
import { nearest, type Column } from './tableColumns.ts';
import { tablesFor, type Table } from './tables.ts';
import { addTo } from '../../kernel/lists.ts';

/** The findings of one row, by the pointer of the member below the row. */
export type RowFindings = ReadonlyMap<string, Finding>;

const COLUMN_MATCH = 0.5;
/** How well a head over lines names its column. */
const LINE_SCORE = 0.875;
/** Lines of one cell stand closer than this share of their height from top to top. */
const WRAPPED = 1.65;

/** The rows of the tables that fit the fields best: one per line that has a number in a number's column. */
export function findRows(fields: readonly Field[], source: Source): readonly RowFindings[] {
  const rows = tablesFor(fields, source).flatMap((table) => rowsOf(table, fields, source));
  return rows.length > 0 ? rows : findItems(fields, source);
}

function rowsOf(table: Table, fields: readonly Field[], source: Source): readonly RowFindings[] {
  const mapped = mapColumns(table, fields, source);
  const keys = keyColumns(mapped);
  if (keys.length === 0) return [];
  const evidence = columnEvidence(LINE_SCORE, mapped.size / fields.length);
  const rows: RowFindings[] = [];
  let current: Map<string, Finding> | undefined;
  let last: Segment | undefined;
  for (const row of table.rows) {
    const cells = cellsOf(row, table.columns);
    const found = rowFindings(cells, mapped, { source, evidence });
    if (keys.every((field) => !found.has(field.pointer))) {
      last = current === undefined ? undefined : goOn(current, cells, { mapped, last });
      continue;
    }
    current = found;
    rows.push(current);
    last = textSegment(cells, mapped);
  }
  return rows.filter((row) => row.size >= Math.min(2, fields.length));
}

type Mapped = ReadonlyMap<Field, Column>;
type Cells = ReadonlyMap<Column, readonly Segment[]>;

/** Fields to columns, the best pairs first; each column serves one field. Arithmetic corrects it. */
function mapColumns(table: Table, fields: readonly Field[], source: Source): Mapped {
  const pairs = fields.flatMap((field) =>
    table.columns.map((column, place) => ({
      field,
      column,
      place,
      score: columnScore(field, column, source.labels),
    })),
  );
  const multiplied = byProduct(table, pairs, source);
  const mapped = new Map<Field, Column>(multiplied);
  const used = new Set<Column>(multiplied.values());
  for (const { field, column, score } of [...pairs].sort((a, b) => b.score - a.score || b.place - a.place)) {
    if (score < COLUMN_MATCH || mapped.has(field) || used.has(column)) continue;
    mapped.set(field, column);
    used.add(column);
  }
  return mapped;
}

interface Pair {
  readonly field: Field;
  readonly column: Column;
  readonly place: number;
  readonly score: number;
}

/** Quantity, price and amount where three columns multiply; of several ways, the one that headers say best. */
function byProduct(table: Table, pairs: readonly Pair[], source: Source): Mapped {
  const asked = (['quantity', 'unit_price', 'line_total'] as const).map((id) =>
    pairs.filter(({ field }) => field.concept?.id === id),
  );
  const ways = productsOf(numberGrid(table, source)).map(({ quantity, price, amount }) => {
    const chosen = [quantity, price, amount].map((place, i) =>
      asked[i]?.find((pair) => pair.place === place),
    );
    const score = chosen.reduce((sum, pair) => sum + (pair?.score ?? 0), amount > price ? 0.1 : 0);
    return { chosen: chosen.filter((pair) => pair !== undefined), score };
  });
  const best = ways.reduce<(typeof ways)[number] | undefined>(
    (most, way) => (way.score > (most?.score ?? LEAST_SAID) ? way : most),
    undefined,
  );
  return new Map(best?.chosen.map(({ field, column }) => [field, column]));
}

/** Headers must say at least so much of the columns that multiply. */
const LEAST_SAID = 0.7;

function numberGrid({ rows, columns }: Table, { conventions }: Source): Grid {
  const grid = rows.map((row) => {
    const cells = cellsOf(row, columns);
    return columns.map((column) => {
      const number = (cells.get(column) ?? [])
        .flatMap((segment) => inSegment(segment, conventions))
        .find(({ kind, from, segment }) => kind === 'number' && startsCell(from, segment));
      return typeof number?.value === 'number' ? number.value : undefined;
    });
  });
  return grid.filter((row) => row.filter((value) => value !== undefined).length >= 2);
}

function columnScore(field: Field, { header }: Column, labels: Source['labels']): number {
  const runs = header.flatMap((_, i) => [
    header.slice(i, i + 1),
    header.slice(i, i + 2),
    header.slice(i, i + 3),
  ]);
  const parts = runs.reduce((best, run) => Math.max(best, labels.score(field, run)), 0);
  return Math.max(labels.score(field, header), 0.9 * parts);
}

/** What makes a line a row of its own: its amount if there is one, else a price, else any number. */
function keyColumns(mapped: Mapped): readonly Field[] {
  const numeric = [...mapped.keys()].filter(({ kind }) => kind === 'number');
  for (const id of ['line_total', 'unit_price']) {
    const key = numeric.filter(({ concept }) => concept?.id === id);
    if (key.length > 0) return key;
  }
  return numeric.length > 0 ? numeric : [...mapped.keys()].slice(0, 1);
}

function cellsOf(row: Row, columns: readonly Column[]): Cells {
  const cells = new Map<Column, Segment[]>();
  for (const segment of row.segments) {
    const column = nearest(columns, segment);
    if (column === undefined) continue;
    addTo(cells, column, segment);
  }
  return cells;
}

function rowFindings(cells: Cells, mapped: Mapped, reading: CellReading): Map<string, Finding> {
  const found = new Map<string, Finding>();
  for (const [field, column] of mapped) {
    const segments = cells.get(column) ?? [];
    const finding = cellFinding(field, segments, reading);
    if (finding !== undefined) found.set(field.pointer, finding);
  }
  return found;
}

function cellFinding(
  field: Field,
  segments: readonly Segment[],
  { source, evidence }: CellReading,
): Finding | undefined {
  if (isText(field)) {
    const parts = segments.map((segment) => ({ segment, from: 0, to: segment.text.length }));
    return textFinding(parts, { ...evidence, strictness: STRICTNESS });
  }
  const kind = field.kind === 'integer' ? 'number' : field.kind;
  const candidate = segments
    .flatMap((segment) => inSegment(segment, source.conventions))
    .find((one) => one.kind === kind && startsCell(one.from, one.segment));
  return candidate && findingOf({ ...candidate, strictness: STRICTNESS }, evidence);
}

const isText = ({ kind }: Field): boolean => kind === 'text' || kind === 'party';

/** A number in the middle of a sentence is no cell's value. */
const startsCell = (from: number, { text }: Segment): boolean =>
  text.slice(0, from).replace(/[^\p{L}]/gu, '').length <= 4;

function textSegment(cells: Cells, mapped: Mapped): Segment | undefined {
  const entry = [...mapped].find(([field]) => isText(field));
  return entry === undefined ? undefined : cells.get(entry[1])?.at(-1);
}

interface Continued {
  readonly mapped: Mapped;
  readonly last: Segment | undefined;
}

/** Adds a wrapped line to the row's text; undefined when the text has ended. */
function goOn(current: Map<string, Finding>, cells: Cells, { mapped, last }: Continued): Segment | undefined {
  const entry = [...mapped].find(([field]) => isText(field));
  if (entry === undefined) return undefined;
  const [field, column] = entry;
  const next = cells.get(column)?.[0];
  const finding = current.get(field.pointer);
  if (next !== undefined && finding === undefined) return begin(current, field, next);
  if (next === undefined || finding === undefined || last === undefined) return last;
  if (!isWrapped(last, next)) return undefined;
  const text = `${finding.text} ${next.text}`;
  current.set(field.pointer, { ...finding, value: text, text, words: [...finding.words, ...next.words] });
  return next;
}

/** A row's text may begin below its numbers. */
function begin(current: Map<string, Finding>, { pointer }: Field, segment: Segment): Segment {
  const evidence = { label: 0.7, strictness: 0.5, margin: 0.1, agreement: 0 };
  const finding = textFinding([{ segment, from: 0, to: segment.text.length }], evidence);
  if (finding !== undefined) current.set(pointer, finding);
  return segment;
}

const isWrapped = (last: Segment, next: Segment): boolean =>
  next.page === last.page &&
  next.y0 - last.y0 <= WRAPPED * (last.y1 - last.y0) + 1 &&
  Math.abs(next.x0 - last.x0) < 12 &&
  !/[:()]/.test(next.text);
