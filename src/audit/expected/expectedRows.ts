import type { AuditedEvent } from '../log/auditedEvent.ts';

/** A row as the auditor computes it: values by column; objects stand for jsonb. */
export type ExpectedRow = Readonly<Record<string, unknown>>;
export type Emit = (table: string, row: ExpectedRow) => void;

/** The rows of one read model, made from events and from nothing else. */
export interface ExpectedFold {
  /** Emits rows that will not change any more, and remembers the others. */
  readonly apply: (event: AuditedEvent, emit: Emit) => void;
  /** Emits what was remembered, as it is after the last event applied. */
  readonly finish: (emit: Emit) => void;
}

/** What a read model has to contain. Written without the projectors' code, on purpose. */
export interface ExpectedModel {
  /** The name of the read model in the registry. */
  readonly name: string;
  readonly tables: readonly string[];
  readonly start: () => ExpectedFold;
}

/** Emits all rows of a map, and forgets them. */
export const emitAll = (rows: Map<string, ExpectedRow>, table: string, emit: Emit): void => {
  for (const row of rows.values()) emit(table, row);
  rows.clear();
};
