import { bulk, inserting, type BulkRow } from '../engine/apply/bulk.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../engine/feed/event.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { pick } from '../engine/table.ts';
import { operations } from './operations.schema.ts';

const accept = inserting(operations, { firstStands: true });
/** Null in `attempt`, `ready_at` or `started_at` leaves the column as it was. */
const moved = bulk({
  ...pick(operations.columns, 'operation_id', 'status', 'problem_code', 'started_at', 'finished_at'),
  attempt: 'int4?',
  ready_at: 'sorted?',
});
const charged = bulk(pick(operations.columns, 'work_id', 'credits_charged', 'free_pages', 'balance_after'));
const released = bulk({ hold_id: 'text', position: 'position' });

const MOVE = (schema: string) => `
  update ${schema}.operations o
  set status = u.status, attempt = coalesce(u.attempt, o.attempt), ready_at = coalesce(u.ready_at, o.ready_at),
    problem_code = u.problem_code, started_at = coalesce(o.started_at, u.started_at), finished_at = u.finished_at
  from ${moved.source()} where o.operation_id = u.operation_id`;

/** A hold of the same ID may have been placed and released before its operation was accepted. */
const RELEASE = (schema: string) => `
  update ${schema}.operations o set hold_closed = true
  from ${released.source()} where o.hold_id = u.hold_id and u.position > o.position`;

/** A burn names the extraction or conversion that an operation is. */
const CHARGE = (schema: string) => `
  update ${schema}.operations o
  set credits_charged = u.credits_charged, free_pages = u.free_pages, balance_after = u.balance_after
  from ${charged.source()} where o.work_id = u.work_id`;

type Move = BulkRow<typeof moved>;

const STILL = { attempt: null, ready_at: null, problem_code: null, started_at: null, finished_at: null };

const moveOf = (event: ProjectedEvent): readonly Move[] => {
  switch (event.type) {
    case 'OperationStarted': {
      const { operation_id, attempt, lease_until: ready_at, started_at } = event.data;
      return [{ ...STILL, operation_id, status: 'running', attempt, ready_at, started_at }];
    }
    case 'OperationProgressed': {
      const { operation_id, lease_until: ready_at, gave_up } = event.data;
      return [{ ...STILL, operation_id, status: gave_up === null ? 'running' : 'queued', ready_at }];
    }
    case 'OperationSucceeded': {
      const { operation_id, outcome, succeeded_at: finished_at } = event.data;
      const status = outcome === 'partial' ? 'partial' : 'succeeded';
      return [{ ...STILL, operation_id, status, finished_at }];
    }
    case 'OperationFailed': {
      const { operation_id, code: problem_code, failed_at: finished_at } = event.data;
      return [{ ...STILL, operation_id, status: 'failed', problem_code, finished_at }];
    }
    case 'OperationCancelled': {
      const { operation_id, cancelled_at: finished_at } = event.data;
      return [{ ...STILL, operation_id, status: 'cancelled', finished_at }];
    }
    default:
      return [];
  }
};

/** One row an operation: what later moves do not say, earlier ones of the same batch do. */
const joined = (moves: readonly Move[]): readonly Move[] => {
  const rows = new Map<string, Move>();
  for (const move of moves) {
    const before = rows.get(move.operation_id);
    rows.set(move.operation_id, {
      ...move,
      attempt: move.attempt ?? before?.attempt ?? null,
      ready_at: move.ready_at ?? before?.ready_at ?? null,
      started_at: before?.started_at ?? move.started_at,
    });
  }
  return [...rows.values()];
};

const acceptedRow = ({ data, position }: ProjectedEventOf<'OperationAccepted'>) => ({
  ...data,
  ...{ ...STILL, position, status: 'queued', attempt: 0, ready_at: data.accepted_at },
  ...{ hold_closed: false, credits_charged: null, free_pages: null, balance_after: null },
});

const chargeOf = ({ data }: ProjectedEventOf<'CreditsBurned'>) => ({
  work_id: data.operation_id,
  credits_charged: data.credits,
  free_pages: data.free_pages,
  balance_after: data.balance_after,
});

/** Operations: the queue as workers look at it, and what each cost. */
export const operationsProjector: Projector = {
  name: 'operations',
  version: 1,
  eventTypes: [
    'OperationAccepted',
    'OperationStarted',
    'OperationProgressed',
    'OperationSucceeded',
    'OperationFailed',
    'OperationCancelled',
    'CreditsBurned',
    'HoldReleased',
  ],
  tables: [operations],
  apply: async (tx, { schema, events }) => {
    const moves = joined(events.flatMap(moveOf));
    const burns = only(events, 'CreditsBurned').filter(
      ({ data }) => data.operation === 'extract' || data.operation === 'to_markdown',
    );
    const holds = only(events, 'HoldReleased');
    await accept(tx, schema, only(events, 'OperationAccepted').map(acceptedRow));
    if (moves.length > 0) await tx.query(MOVE(schema), moved.values(moves));
    if (burns.length > 0) await tx.query(CHARGE(schema), charged.values(burns.map(chargeOf)));
    if (holds.length > 0)
      await tx.query(
        RELEASE(schema),
        released.values(holds.map(({ data, position }) => ({ hold_id: data.hold_id, position }))),
      );
  },
};
