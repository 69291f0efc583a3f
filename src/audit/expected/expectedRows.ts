import type { Exact, Row, Sum, Table } from '../../../projections/engine/table.ts';
import type { AuditedEvent } from '../log/auditedEvent.ts';

/** What columns are in rows that the auditor computes: objects stand for jsonb. */
interface Audited {
  readonly whole: number | bigint;
  readonly big: bigint;
  readonly json: object;
}

/** A row as the auditor computes it; of further members nothing is compared. */
export type ExpectedRow<T extends Table> = Row<T, Audited>;
/** A row that is being summed up. */
export type ExpectedSum<T extends Table> = Sum<T, Exact>;
export type ExpectedRows<T extends Table> = Map<string, ExpectedRow<T>>;
export type Emit = <T extends Table>(table: T, row: ExpectedRow<T>) => void;

/** The rows of one read model, made from events and from nothing else. */
export interface ExpectedFold {
  /** Emits rows that will not change any more, and remembers the others. */
  readonly apply: (event: AuditedEvent, emit: Emit) => void;
  /** Emits what was remembered, as it is after the last event applied. */
  readonly finish: (emit: Emit) => void;
}

/**
 * What a read model has to contain. Of the projectors' code it shares the definitions of tables and nothing
 * else, on purpose: a mistake of theirs must not be repeated here.
 */
export interface ExpectedModel {
  /** The name of the read model in the registry. */
  readonly name: string;
  readonly tables: readonly Table[];
  readonly start: () => ExpectedFold;
}

/** Emits all rows of a map, and forgets them. */
export const emitAll = <T extends Table>(rows: Map<string, ExpectedRow<T>>, table: T, emit: Emit): void => {
  for (const row of rows.values()) emit(table, row);
  rows.clear();
};

/** Changes some columns of a row that is there. */
export const change = <T extends Table>(
  rows: ExpectedRows<T>,
  key: string,
  columns: Partial<ExpectedRow<T>>,
): void => {
  const row = rows.get(key);
  if (row !== undefined) rows.set(key, { ...row, ...columns });
};
