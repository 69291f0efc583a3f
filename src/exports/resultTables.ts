import { pointedName } from '@quire/engine/kernel/json';
import type { Json, JsonObject } from '../../domain/kernel/json.ts';
import type { CellValue } from './xlsx.ts';

/** Where a value of a result stands, as a table tells it. */
export interface CitedPlace {
  readonly path: string;
  readonly page?: number | null;
  readonly text?: string;
  readonly confidence?: number;
  readonly by?: string;
}

/** One result with what is known of its operation. */
export interface ResultRow {
  readonly facts: Readonly<Record<string, CellValue>>;
  readonly result: JsonObject | null;
  readonly citations: readonly CitedPlace[];
}

/**
 * Results in order. They are gone through once for the columns, and for each table those that have rows in it, named
 * by their places from 0; others may come too.
 */
export type ResultRows = (only?: ReadonlySet<number>) => AsyncIterable<ResultRow>;

/** Columns of one table; the members beyond them stand in `OTHERS` as JSON. */
const COLUMNS_MAX = 1_000;
/** Tables of one answer; lists beyond them stand in their column as JSON. */
const TABLES_MAX = 50;
/** Objects inside of objects have columns of their own down to here. */
const DEPTH_MAX = 8;
const OTHERS = 'others';
/** The column of an item's place in its list. */
const ROW = 'row';
/** The table of whole results. */
export const WHOLE = '';

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isListOfObjects = (value: Json): value is readonly JsonObject[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

const segment = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** `/vendor/name` as a column is called: `vendor.name`. */
const titleOf = (path: string): string => path.slice(1).split('/').map(pointedName).join('.');

type Leaf = readonly [path: string, value: Json];

/** Values of a record by their JSON Pointer in it, in its order. */
function* leavesOf(record: JsonObject, path = '', depth = 1): Generator<Leaf> {
  for (const [name, value] of Object.entries(record)) {
    const at = path + segment(name);
    const isOpened = isObject(value) && depth < DEPTH_MAX && Object.keys(value).length > 0;
    if (isOpened) yield* leavesOf(value, at, depth + 1);
    else yield [at, value];
  }
}

/** A row of a table: the result itself, or an item of a list of objects in it. */
interface TableRow {
  /** `/orders/*` and `/lines` of an item make `/orders/*` + `/lines`. */
  readonly table: string;
  /** JSON Pointer into the result. */
  readonly place: string;
  /** Places in the lists from 1, such as `3` or `3.1`; the result itself has none. */
  readonly number: string | null;
  readonly record: JsonObject;
}

function* rowsOf(row: TableRow, depth = 1): Generator<TableRow> {
  yield row;
  if (depth === DEPTH_MAX) return;
  for (const [path, value] of leavesOf(row.record)) {
    if (!isListOfObjects(value)) continue;
    const table = row.table === WHOLE ? path : `${row.table}/*${path}`;
    for (const [index, record] of value.entries()) {
      const number = `${row.number === null ? '' : `${row.number}.`}${String(index + 1)}`;
      yield* rowsOf({ table, place: `${row.place}${path}/${String(index)}`, number, record }, depth + 1);
    }
  }
}

const wholeOf = (record: JsonObject): TableRow => ({ table: WHOLE, place: '', number: null, record });

interface TableShape {
  /** JSON Pointers of the values in a record, in the order of their first appearance. */
  readonly paths: Set<string>;
  /** Those that are more than null in some record. */
  readonly told: Set<string>;
  rows: number;
  hasOthers: boolean;
  /** Places of the results that have rows in it, from 0. */
  readonly results: Set<number>;
}

/** What all results together have: their facts, and their tables by pointer, the whole first. */
export interface ResultShape {
  readonly facts: readonly string[];
  readonly tables: ReadonlyMap<string, TableShape>;
}

const noShape = (): TableShape => ({
  paths: new Set(),
  told: new Set(),
  rows: 0,
  hasOthers: false,
  results: new Set(),
});

const noted = (tables: Map<string, TableShape>, { table, record }: TableRow, result: number): void => {
  let shape = tables.get(table);
  if (shape === undefined && tables.size === TABLES_MAX) return;
  shape ??= noShape();
  tables.set(table, shape);
  shape.rows += 1;
  shape.results.add(result);
  for (const [path, value] of leavesOf(record)) {
    if (shape.paths.size < COLUMNS_MAX) shape.paths.add(path);
    else shape.hasOthers ||= !shape.paths.has(path);
    if (value !== null && shape.paths.has(path)) shape.told.add(path);
  }
};

/** The values that have columns: an object that is null in some results has those of its members. */
const columnsOf = ({ paths, told }: TableShape): readonly string[] => {
  const opened = new Set<string>();
  for (const path of paths)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      opened.add(path.slice(0, end));
  return [...paths].filter((path) => told.has(path) || !opened.has(path));
};

/** Goes through all results once. */
export const shapeOf = async (rows: ResultRows): Promise<ResultShape> => {
  const facts = new Set<string>();
  const tables = new Map<string, TableShape>([[WHOLE, noShape()]]);
  let place = 0;
  for await (const { facts: own, result } of rows()) {
    for (const name of Object.keys(own)) facts.add(name);
    for (const row of rowsOf(wholeOf(result ?? {}))) noted(tables, row, place);
    place += 1;
  }
  return { facts: [...facts], tables };
};

/** A table of the results as it is written. */
export interface ResultTable {
  readonly columns: readonly string[];
  readonly rows: () => AsyncIterable<readonly CellValue[]>;
}

export interface TableWish {
  /** JSON Pointer of a list of objects, with `*` for places in lists above it; `WHOLE`: the results themselves. */
  readonly table: string;
  readonly citations: boolean;
  /** Lists that are tables of their own have a column here too, as JSON. */
  readonly lists: boolean;
}

const CITED = ['page', 'text', 'confidence', 'by'] as const;

const cellOf = (value: Json | undefined): CellValue =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null);

const citedCells = (place: CitedPlace | undefined): readonly CellValue[] =>
  CITED.map((name) => place?.[name] ?? null);

/** Facts of an operation that stand in each row of a list, so that it can be joined to the whole. */
const KEYS: readonly string[] = ['index', 'document_id', 'file_name', 'operation_id'];

/** A value that has a column, and what it is called. */
interface Column {
  readonly path: string;
  readonly title: string;
}

/** Columns of a table, with what it takes to fill them. */
interface Layout {
  readonly wish: TableWish;
  readonly facts: readonly string[];
  readonly columns: readonly Column[];
  /** Paths of all values that have a column or a table; others stand together. */
  readonly known: ReadonlySet<string>;
  readonly hasOthers: boolean;
}

const layoutOf = (shape: ResultShape, wish: TableWish): Layout => {
  const table = shape.tables.get(wish.table) ?? noShape();
  const isWhole = wish.table === WHOLE;
  const facts = isWhole ? shape.facts : shape.facts.filter((name) => KEYS.includes(name));
  const under = (path: string) => (isWhole ? path : `${wish.table}/*${path}`);
  const columns = columnsOf(table)
    .filter((path) => wish.lists || !shape.tables.has(under(path)))
    .map((path) => {
      const title = titleOf(path);
      const isTaken = facts.includes(title) || title === ROW || title === OTHERS;
      return { path, title: isTaken ? `result.${title}` : title };
    });
  return { wish, facts, columns, known: table.paths, hasOthers: table.hasOthers };
};

const titlesOf = ({ wish, facts, columns, hasOthers }: Layout): readonly string[] => {
  const cited = (title: string) => (wish.citations ? CITED.map((name) => `${title} (${name})`) : []);
  return [
    ...facts,
    ...(wish.table === WHOLE ? [] : [ROW]),
    ...columns.flatMap(({ title }) => [title, ...cited(title)]),
    ...(hasOthers ? [OTHERS] : []),
  ];
};

const cellsOf = (
  layout: Layout,
  { record, place, number }: TableRow,
  row: ResultRow,
): readonly CellValue[] => {
  const { wish, facts, columns, known, hasOthers } = layout;
  const leaves = new Map(leavesOf(record));
  const places = wish.citations ? new Map(row.citations.map((one) => [one.path, one])) : undefined;
  const beyond = hasOthers ? [...leaves].filter(([path]) => !known.has(path)) : [];
  return [
    ...facts.map((name) => row.facts[name] ?? null),
    ...(wish.table === WHOLE ? [] : [number]),
    ...columns.flatMap(({ path }) => [
      cellOf(leaves.get(path)),
      ...(places === undefined ? [] : citedCells(places.get(place + path))),
    ]),
    ...(hasOthers ? [beyond.length === 0 ? null : JSON.stringify(Object.fromEntries(beyond))] : []),
  ];
};

/** One table of the results. */
export const tableOf = (rows: ResultRows, shape: ResultShape, wish: TableWish): ResultTable => {
  const layout = layoutOf(shape, wish);
  return {
    columns: titlesOf(layout),
    rows: async function* () {
      for await (const row of rows(shape.tables.get(wish.table)?.results))
        for (const one of rowsOf(wholeOf(row.result ?? {})))
          if (one.table === wish.table) yield cellsOf(layout, one, row);
    },
  };
};
