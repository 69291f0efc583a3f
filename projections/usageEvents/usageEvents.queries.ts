import { rowReader } from '../engine/apply/columns.ts';
import type { SqlRow } from '../engine/ports.ts';
import { listing } from '../engine/query.ts';
import { unrecordedWork, usageEvents } from './usageEvents.schema.ts';
import { pick } from '../engine/table.ts';

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

const readAbandoned = rowReader(pick(usageEvents.columns, 'id', 'kind', 'tenant_id', 'pages'));

/**
 * Work that is billed, was asked for before an instant, and has neither an open hold nor a burn nor an end, oldest
 * first: its process died. Work of operations is closed by their workers.
 */
export const abandonedWorkBefore = listing(
  `select u.id, u.kind, u.tenant_id, u.pages from read.usage_events u
   where u.state = 'running' and u.hold_id is not null and u.requested_at < $1
     and not exists (select 1 from read.open_holds h where h.tenant_id = u.tenant_id and h.operation_id = u.id)
     and not exists (select 1 from read.unrecorded_work w where w.operation_id = u.id)
     and not exists (select 1 from read.operations o where o.work_id = u.id)
   order by u.requested_at, u.id limit $2`,
  (before: string, limit: number) => [before, limit],
  (row) => {
    const { id: operation_id, kind, tenant_id, pages } = readAbandoned(row);
    const operation = kind === 'extraction' ? ('extract' as const) : ('to_markdown' as const);
    return { operation_id, operation, tenant_id, pages };
  },
);
