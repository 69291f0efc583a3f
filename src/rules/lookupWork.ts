import { LRUCache } from 'lru-cache';
import { type ColumnIndex, columnIndex } from './matching.ts';

/** A version of a table, by its digest; its lines only where they are not known there yet. */
export interface LookupTable {
  readonly sha256: string;
  readonly lines?: Uint8Array | undefined;
}

/** Texts to look up in a column. */
export interface LookupAsked {
  readonly sha256: string;
  readonly column: string;
  readonly values: readonly string[];
}

export interface LookupJob {
  readonly tables: readonly LookupTable[];
  readonly asked: readonly LookupAsked[];
}

/** The row that is most like a value. */
export interface FoundRow {
  readonly row: number;
  readonly score: number;
  readonly equal_rows: number;
  /** As the table has it, in the column that was looked in. */
  readonly text: string;
  /** The whole row, by column. */
  readonly values: Readonly<Record<string, string>>;
}

/** Of each value, in their order; undefined: nothing is like it. Or why there is none for all of them. */
export type FoundRows = 'no_table' | 'no_column' | readonly (FoundRow | undefined)[];

export type LookupAnswer =
  /** Digests of tables whose lines have to be sent. */
  | { readonly kind: 'missing'; readonly tables: readonly string[] }
  /** For each that was asked. */
  | { readonly kind: 'found'; readonly found: readonly FoundRows[] };

type Found = Extract<LookupAnswer, { readonly kind: 'found' }>;

/** Looks values up in tables of tenants. */
export interface LookupWorker {
  /**
   * Of one `share` in order. `linesOf` gives the lines of a table, undefined where they are gone. `too_much`: it took
   * more time or memory than it may. Throws once `signal` says that nobody waits for the answer.
   */
  readonly look: (
    share: string,
    work: {
      readonly asked: readonly LookupAsked[];
      readonly linesOf: (sha256: string) => Promise<Uint8Array | undefined>;
    },
    signal: AbortSignal,
  ) => Promise<Found | { readonly kind: 'too_much' }>;
}

const NEW_LINE = 0x0a;

/** A table as its lines, which are parsed where they are needed. */
interface OpenTable {
  readonly columns: readonly string[];
  readonly rows: number;
  readonly row: (number: number) => readonly string[];
  readonly indexes: Map<string, ColumnIndex>;
}

const opened = (lines: Uint8Array): OpenTable => {
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength);
  const starts = [0];
  for (let end = bytes.indexOf(NEW_LINE); end >= 0; end = bytes.indexOf(NEW_LINE, end + 1))
    starts.push(end + 1);
  const row = (number: number): readonly string[] =>
    JSON.parse(bytes.toString('utf8', starts[number], (starts[number + 1] ?? 1) - 1)) as readonly string[];
  return { columns: row(0), rows: starts.length - 2, row, indexes: new Map() };
};

function* cellsOf({ rows, row }: OpenTable, at: number): Generator<string> {
  for (let number = 1; number <= rows; number += 1) yield row(number)[at] ?? '';
}

/** Indexes that one table may have ready: others are made anew. */
const INDEXES_MAX = 4;

const indexOf = (table: OpenTable, column: string): ColumnIndex | undefined => {
  const at = table.columns.indexOf(column);
  const known = table.indexes.get(column);
  if (at < 0 || known !== undefined) return known;
  const made = columnIndex(cellsOf(table, at));
  for (const oldest of table.indexes.keys())
    if (table.indexes.size >= INDEXES_MAX) table.indexes.delete(oldest);
  table.indexes.set(column, made);
  return made;
};

const lookedUp = (table: OpenTable, { column, values }: LookupAsked): FoundRows => {
  const index = indexOf(table, column);
  if (index === undefined) return 'no_column';
  const at = table.columns.indexOf(column);
  return values.map((value) => {
    const match = index.find(value);
    if (match === undefined) return undefined;
    const cells = table.row(match.row);
    const named = table.columns.map((name, place) => [name, cells[place] ?? ''] as const);
    return { ...match, text: cells[at] ?? '', values: Object.fromEntries(named) };
  });
};

/** Bytes of the lines of tables that are kept ready; each takes some times as much with its indexes. */
const READY_BYTES = 48 * 1024 * 1024;

/** Does look-ups one after the other, and keeps the tables that were used last. */
export const lookupDoer = (): ((job: LookupJob) => LookupAnswer) => {
  const ready = new LRUCache<string, OpenTable>({ maxSize: READY_BYTES });
  return ({ tables, asked }) => {
    const open = new Map<string, OpenTable>();
    for (const { sha256, lines } of tables) {
      const known = ready.get(sha256) ?? (lines && opened(lines));
      if (known === undefined) continue;
      open.set(sha256, known);
      if (lines !== undefined) ready.set(sha256, known, { size: Math.max(1, lines.length) });
    }
    const missing = tables.map(({ sha256 }) => sha256).filter((sha256) => !open.has(sha256));
    if (missing.length > 0) return { kind: 'missing', tables: missing };
    return {
      kind: 'found',
      found: asked.map((one) => {
        const table = open.get(one.sha256);
        return table === undefined ? 'no_table' : lookedUp(table, one);
      }),
    };
  };
};

/** Does all look-ups at a stretch where they are asked for, and keeps no table. */
export const lookupsHere: LookupWorker = {
  look: async (_, { asked, linesOf }) => {
    const tables: LookupTable[] = [];
    for (const sha256 of new Set(asked.map((one) => one.sha256))) {
      const lines = await linesOf(sha256);
      if (lines !== undefined) tables.push({ sha256, lines });
    }
    const answer = lookupDoer()({ tables, asked });
    if (answer.kind === 'missing') throw new Error('a table was sent and is missing');
    return answer;
  },
};
