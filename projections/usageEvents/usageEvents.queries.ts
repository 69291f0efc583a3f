import { rowReader } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';
import { unrecordedWork } from './usageEvents.schema.ts';

const readUnrecorded = rowReader(unrecordedWork.columns);

/** A burned extraction or conversion without its usage event. */
export interface UnrecordedWorkRow extends ReturnType<typeof readUnrecorded> {
  readonly operation: 'extract' | 'to_markdown';
  readonly status: 'success' | 'partial';
}

const unrecordedOf = (row: SqlRow): UnrecordedWorkRow => {
  const work = readUnrecorded(row);
  return {
    ...work,
    operation: work.operation === 'extract' ? 'extract' : 'to_markdown',
    status: work.status === 'partial' ? 'partial' : 'success',
  };
};

/** Burned before an instant and still without a usage event, oldest first. */
export const unrecordedWorkBefore =
  (sql: SqlTx) =>
  async (before: string, limit: number): Promise<readonly UnrecordedWorkRow[]> =>
    (
      await sql.query(
        `select * from read.unrecorded_work where burned_at < $1
         order by burned_at, operation_id limit $2`,
        [before, limit],
      )
    ).map(unrecordedOf);
