import { bulk, inserting } from '../engine/apply/bulk.ts';
import { only, type ProjectedEventOf } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { pick } from '../engine/table.ts';
import { moveQueue, QUEUED } from '../queue/queueMoves.ts';
import { operations } from './operations.schema.ts';

const accept = inserting(operations, { firstStands: true });
const charged = bulk(
  pick(operations.columns, 'work_id', 'credits_charged', 'free_pages', 'balance_after', 'charged_at'),
);

/** A burn names the extraction or conversion that an operation is. */
const CHARGE = (schema: string) => `
  update ${schema}.operations o
  set credits_charged = u.credits_charged, free_pages = u.free_pages, balance_after = u.balance_after,
    charged_at = u.charged_at
  from ${charged.source()} where o.work_id = u.work_id`;

const acceptedRow = ({ data, position }: ProjectedEventOf<'OperationAccepted'>) => ({
  ...data,
  file_bytes: data.file_bytes ?? 0,
  ...{ ...QUEUED, position, ready_at: data.accepted_at },
  ...{ credits_charged: null, free_pages: null, balance_after: null, charged_at: null },
});

const chargeOf = ({ data }: ProjectedEventOf<'CreditsBurned'>) => ({
  work_id: data.operation_id,
  credits_charged: data.credits,
  free_pages: data.free_pages,
  balance_after: data.balance_after,
  charged_at: data.created_at,
});

/** Operations: the queue as workers look at it, and what each cost. */
export const operationsProjector: Projector = {
  name: 'operations',
  version: 3,
  eventTypes: [
    'OperationAccepted',
    'OperationStarted',
    'OperationProgressed',
    'OperationSucceeded',
    'OperationFailed',
    'OperationCancelled',
    'CreditsBurned',
  ],
  tables: [operations],
  apply: async (tx, { schema, events }) => {
    const burns = only(events, 'CreditsBurned').filter(
      ({ data }) => data.operation === 'extract' || data.operation === 'to_markdown',
    );
    await accept(tx, schema, only(events, 'OperationAccepted').map(acceptedRow));
    await moveQueue(tx, { table: `${schema}.operations`, key: 'operation_id' }, events);
    if (burns.length > 0) await tx.query(CHARGE(schema), charged.values(burns.map(chargeOf)));
  },
};
