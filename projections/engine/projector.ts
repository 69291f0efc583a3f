import type { DomainEvent, ProjectedEvent } from './feed/event.ts';
import type { SqlTx } from './ports.ts';
import type { Table } from './table.ts';

/** Events to apply, in the order of the log, to the tables in `schema`. */
interface ProjectorBatch {
  readonly schema: string;
  readonly events: readonly ProjectedEvent[];
}

/**
 * Turns events into the rows of one read model. A changed meaning or shape of its rows raises `version`,
 * and the engine rebuilds it. `apply` runs in the transaction that moves the checkpoint, so an event
 * takes effect exactly once; it writes sets of rows, never a statement an event, and the rows must not
 * depend on how events are cut into batches.
 */
export interface Projector {
  /** snake_case; part of schema names. */
  readonly name: string;
  readonly version: number;
  readonly eventTypes: readonly DomainEvent['type'][];
  readonly tables: readonly Table[];
  readonly apply: (tx: SqlTx, batch: ProjectorBatch) => Promise<void>;
}

/** The schema of the views that queries read: they point at the tables of the live generation. */
export const READ_SCHEMA = 'read';
