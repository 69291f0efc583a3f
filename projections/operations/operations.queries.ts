import { rowReader, wholeOf } from '../engine/apply/columns.ts';
import { finding, listing, paging, telling, type Page } from '../engine/query.ts';
import { pick } from '../engine/table.ts';
import { operations } from './operations.schema.ts';

/** An operation, and whose it is. */
const readName = rowReader(pick(operations.columns, 'operation_id', 'tenant_id'));

/** Operations that nobody works on at `now`: the one of each tenant that waits longest, then the second of each. */
export const waitingOperations = listing(
  `select operation_id, tenant_id from (
     select operation_id, tenant_id, ready_at, position,
       row_number() over (partition by tenant_id order by ready_at, position) as turn
     from read.operations where finished_at is null and ready_at <= $1
   ) waiting order by turn, ready_at, position limit $2`,
  (now: string, limit: number) => [now, limit],
  readName,
);

/** Operations whose time is over and that did not end. */
export const expiredOperations = listing(
  `select operation_id, tenant_id from read.operations
   where finished_at is null and expires_at <= $1 order by expires_at, operation_id limit $2`,
  (now: string, limit: number) => [now, limit],
  readName,
);

/** Ended operations that were neither charged nor released, the last to end first. */
export const unsettledOperations = listing(
  `select operation_id, tenant_id from read.operations
   where finished_at is not null and hold_id is not null and credits_charged is null
     and (status in ('succeeded', 'partial') or not hold_closed)
   order by finished_at desc, operation_id limit $1`,
  (limit: number) => [limit],
  readName,
);

/** Open holds of operations, placed before `before`, whose operation is not known. */
export const orphanOperationHolds = listing(
  `select h.tenant_id, h.hold_id, 'op_' || substr(h.hold_id, 9) as operation_id from read.open_holds h
   where left(h.hold_id, 8) = 'hold_op_' and h.created_at < $1
     and not exists (select 1 from read.operations o where h.hold_id in (o.hold_id, o.hold_id || '_full'))
   order by h.created_at, h.hold_id limit $2`,
  (before: string, limit: number) => [before, limit],
  rowReader({ ...pick(operations.columns, 'operation_id', 'tenant_id'), hold_id: 'text' }),
);

/** How many operations of a tenant have not ended. */
export const openOperationsOfTenant = telling(
  'select count(*) as n from read.operations where tenant_id = $1 and finished_at is null',
  (tenantId: string) => [tenantId],
  (row) => wholeOf(row, 'n'),
);

/** What an operation cost; null members before it was burned, undefined for one that is not known. */
export const costOfOperation = finding(
  'select credits_charged, free_pages, balance_after from read.operations where operation_id = $1',
  (operationId: string) => [operationId],
  rowReader(pick(operations.columns, 'credits_charged', 'free_pages', 'balance_after')),
);

/** Which operations of a tenant to list. */
interface OperationsQuery extends Page {
  readonly tenant_id: string;
  readonly status?: string | undefined;
  readonly kind?: string | undefined;
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
  /** Inclusive. */
  readonly accepted_after?: string | undefined;
}

const CHOSEN = `from read.operations
  where tenant_id = $1
    and ($2::text is null or status = $2)
    and ($3::text is null or kind = $3)
    and ($4::text is null or project_id = $4)
    and ($5::text is null or task_id = $5)
    and ($6::text is null or accepted_at >= $6)`;

/** A tenant's operations, newest first, and how many there are in all. */
export const operationsOfTenant = paging(
  { chosen: CHOSEN, order: 'position desc' },
  (query: OperationsQuery) => [
    ...[query.tenant_id, query.status ?? null, query.kind ?? null, query.project_id ?? null],
    ...[query.task_id ?? null, query.accepted_after ?? null],
  ],
  rowReader(
    pick(
      operations.columns,
      ...([
        'operation_id',
        'tenant_id',
        'project_id',
        'task_id',
        'kind',
        'document_id',
        'pages',
        'status',
      ] as const),
      ...(['problem_code', 'credits_charged', 'accepted_at', 'started_at', 'finished_at'] as const),
    ),
  ),
);
