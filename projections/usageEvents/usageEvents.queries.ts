import { rowReader } from '../engine/apply/columns.ts';
import type { SqlRow } from '../engine/ports.ts';
import { listing } from '../engine/query.ts';
import { unrecordedWork } from './usageEvents.schema.ts';

const readUnrecorded = rowReader(unrecordedWork.columns);

/** A burned extraction or conversion without its usage event. */
const unrecordedOf = (row: SqlRow) => {
  const work = readUnrecorded(row);
  return {
    ...work,
    operation: work.operation === 'extract' ? ('extract' as const) : ('to_markdown' as const),
    status: work.status === 'partial' ? ('partial' as const) : ('success' as const),
  };
};

/** Burned before an instant and still without a usage event, oldest first. */
export const unrecordedWorkBefore = listing(
  'select * from read.unrecorded_work where burned_at < $1 order by burned_at, operation_id limit $2',
  (before: string, limit: number) => [before, limit],
  unrecordedOf,
);
