import { rowReader } from '../engine/apply/columns.ts';
import { NO_END } from '../../domain/queue/lease.ts';
import { finding, paging, telling, type Page } from '../engine/query.ts';
import { pick } from '../engine/table.ts';
import { queueLists } from '../queue/queueLists.ts';
import { operations } from './operations.schema.ts';

/** What workers ask about operations. Their holds have no end; those of older releases are told by their ID. */
export const operationLists = queueLists({
  table: 'operations',
  key: 'operation_id',
  workKey: 'work_id',
  keyOfHold: `'op_' || substr(h.operation_id, 5)`,
  isHold: `h.operation in ('extract', 'to_markdown')
    and (h.expires_at = '${NO_END}' or left(h.hold_id, 8) = 'hold_op_')`,
  nameOf: rowReader(pick(operations.columns, 'operation_id', 'tenant_id')),
});

/** Operations of a tenant that have not ended: how many, and the bytes of the files that came with them. */
export const openOperationsOfTenant = telling(
  `select count(*) as count, coalesce(sum(file_bytes), 0)::int8 as bytes from read.operations
   where tenant_id = $1 and finished_at is null`,
  (tenantId: string) => [tenantId],
  rowReader({ count: 'int8', bytes: 'int8' }),
);

/** All operations that wait for a worker: how many, and when the oldest was accepted (null: there is none). */
export const waitingOperations = telling(
  `select count(*) as count, min(accepted_at) as oldest_at from read.operations
   where finished_at is null and status = 'queued'`,
  () => [],
  rowReader({ count: 'int8', oldest_at: 'text?' }),
);

/** What an operation cost, and when; null members before it was burned, undefined for one that is not known. */
export const costOfOperation = finding(
  'select credits_charged, free_pages, balance_after, charged_at from read.operations where operation_id = $1',
  (operationId: string) => [operationId],
  rowReader(pick(operations.columns, 'credits_charged', 'free_pages', 'balance_after', 'charged_at')),
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
