import { listing } from './engine/query.ts';
import type { ProjectedEvent, SqlRow, SqlTx } from './engine/ports.ts';
import { textOf } from './engine/table.ts';
import { bulk, type BulkRow } from './engine/bulk.ts';

/** Where one kind of queued work lies, and what it is called. */
interface QueueTable<Name> {
  readonly table: string;
  readonly key: string;
  /** The column by which holds name the work. */
  readonly workKey: string;
  /** SQL of the key of the work that the hold `h` is for, whether it is known or not. */
  readonly keyOfHold: string;
  /** SQL condition: the hold `h` is for work of this kind that nobody ends by the clock. */
  readonly isHold: string;
  /** SQL of the key and tenant of what ended and still owes something else; left out: nothing does. */
  readonly owing?: string;
  readonly nameOf: (row: SqlRow) => Name;
}

const DELIVERED = `status in ('succeeded', 'partial')`;

/** What workers ask about their queue. */
export const queueLists = <Name>({ table, key, workKey, owing, nameOf, ...hold }: QueueTable<Name>) => ({
  /** What waits at `now`: the piece of each tenant that waits longest, then the second of each. */
  waiting: listing(
    `select ${key}, tenant_id from (
       select ${key}, tenant_id, ready_at, position,
         row_number() over (partition by tenant_id order by ready_at, position) as turn
       from read.${table} where finished_at is null and status = 'queued' and ready_at <= $1
     ) waiting order by turn, ready_at, position limit $2`,
    (now: string, limit: number) => [now, limit],
    nameOf,
  ),

  /** What somebody works on, the lease that ends first before the others; `mark` as in `domain/queue/lease.ts`. */
  running: listing(
    `select ${key}, tenant_id, attempt || '|' || ready_at as mark from read.${table}
     where finished_at is null and status = 'running' order by ready_at, ${key} limit $1`,
    (limit: number) => [limit],
    (row) => ({ ...nameOf(row), mark: textOf(row, 'mark') }),
  ),

  /** Work past its time that has not ended. */
  expired: listing(
    `select ${key}, tenant_id from read.${table}
     where finished_at is null and expires_at <= $1 order by expires_at, ${key} limit $2`,
    (now: string, limit: number) => [now, limit],
    nameOf,
  ),

  /** What ended and has an open hold, was delivered and not charged, or owes something else: by its key, after one. */
  unsettled: listing(
    `select ${key}, tenant_id from (
       select w.${key}, w.tenant_id from read.open_holds h join read.${table} w on w.${workKey} = h.operation_id
       where w.finished_at is not null and w.tenant_id = h.tenant_id
       union
       select ${key}, tenant_id from read.${table}
       where ${DELIVERED} and hold_id is not null and credits_charged is null
       ${owing === undefined ? '' : `union ${owing}`}
     ) unsettled where ${key} > $1 order by ${key} limit $2`,
    (after: string, limit: number) => [after, limit],
    (row) => ({ ...nameOf(row), rank: textOf(row, key) }),
  ),

  /** Work that was never accepted and has open holds, placed before `before`. */
  orphans: listing(
    `select distinct h.tenant_id, ${hold.keyOfHold} as ${key} from read.open_holds h
     where ${hold.isHold} and h.created_at < $1
       and not exists (select 1 from read.${table} w where w.${workKey} = h.operation_id)
     order by 2 limit $2`,
    (before: string, limit: number) => [before, limit],
    nameOf,
  ),
});

/** The lists of a queue on a database. */
export const listsOn = <Name>(lists: ReturnType<typeof queueLists<Name>>, sql: SqlTx) => ({
  waiting: lists.waiting(sql),
  running: lists.running(sql),
  expired: lists.expired(sql),
  unsettled: lists.unsettled(sql),
  orphans: lists.orphans(sql),
});

/** Indexes that `queueLists` needs. */
export const QUEUE_INDEXES = [
  '(ready_at) where finished_at is null',
  `(finished_at) where ${DELIVERED} and hold_id is not null and credits_charged is null`,
];

/** Null in `attempt`, `ready_at` or `started_at` leaves the column as it was. */
const moved = bulk({
  id: 'sorted',
  status: 'text',
  problem_code: 'text?',
  started_at: 'text?',
  finished_at: 'text?',
  attempt: 'int4?',
  ready_at: 'sorted?',
});
type Move = BulkRow<typeof moved>;

const STILL = { attempt: null, ready_at: null, problem_code: null, started_at: null, finished_at: null };

/** What rows of work that waits begin with, but for `ready_at`. */
export const QUEUED = { ...STILL, status: 'queued', attempt: 0, hold_closed: false };

const idOf = (data: { operation_id: string } | { job_id: string }): string =>
  'job_id' in data ? data.job_id : data.operation_id;

const moveOf = (event: ProjectedEvent): readonly Move[] => {
  switch (event.type) {
    case 'OperationStarted':
    case 'TrainingJobStarted': {
      const { attempt, lease_until: ready_at, started_at } = event.data;
      return [{ ...STILL, id: idOf(event.data), status: 'running', attempt, ready_at, started_at }];
    }
    case 'OperationProgressed':
    case 'TrainingJobProgressed': {
      const { lease_until: ready_at, gave_up } = event.data;
      return [{ ...STILL, id: idOf(event.data), status: gave_up === null ? 'running' : 'queued', ready_at }];
    }
    default:
      return endOf(event);
  }
};

const endOf = (event: ProjectedEvent): readonly Move[] => {
  switch (event.type) {
    case 'OperationSucceeded':
    case 'TrainingJobSucceeded': {
      const { succeeded_at: finished_at } = event.data;
      const status = 'outcome' in event.data && event.data.outcome === 'partial' ? 'partial' : 'succeeded';
      return [{ ...STILL, id: idOf(event.data), status, finished_at }];
    }
    case 'OperationFailed':
    case 'TrainingJobFailed': {
      const { code: problem_code, failed_at: finished_at } = event.data;
      return [{ ...STILL, id: idOf(event.data), status: 'failed', problem_code, finished_at }];
    }
    case 'OperationCancelled':
    case 'TrainingJobCancelled':
      return [{ ...STILL, id: idOf(event.data), status: 'cancelled', finished_at: event.data.cancelled_at }];
    default:
      return [];
  }
};

/** One row a piece of work: what later moves do not say, earlier ones of the same batch do. */
const joined = (moves: readonly Move[]): readonly Move[] => {
  const rows = new Map<string, Move>();
  for (const move of moves) {
    const before = rows.get(move.id);
    rows.set(move.id, {
      ...move,
      attempt: move.attempt ?? before?.attempt ?? null,
      ready_at: move.ready_at ?? before?.ready_at ?? null,
      started_at: before?.started_at ?? move.started_at,
    });
  }
  return [...rows.values()];
};

/** Moves the rows of one kind of queued work, whose events alone are given. */
export const moveQueue = async (
  tx: SqlTx,
  { table, key }: { readonly table: string; readonly key: string },
  events: readonly ProjectedEvent[],
): Promise<void> => {
  const moves = joined(events.flatMap(moveOf));
  if (moves.length === 0) return;
  await tx.query(
    `update ${table} w
     set status = u.status, attempt = coalesce(u.attempt, w.attempt), ready_at = coalesce(u.ready_at, w.ready_at),
       problem_code = u.problem_code, started_at = coalesce(w.started_at, u.started_at), finished_at = u.finished_at
     from ${moved.source()} where w.${key} = u.id`,
    moved.values(moves),
  );
};
