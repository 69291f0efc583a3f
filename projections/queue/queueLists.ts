import { listing } from '../engine/query.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';
import { textOf } from '../engine/apply/columns.ts';

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
  readonly nameOf: (row: SqlRow) => Name;
}

const DELIVERED = `status in ('succeeded', 'partial')`;

/** What workers ask about their queue. */
export const queueLists = <Name>({ table, key, workKey, keyOfHold, isHold, nameOf }: QueueTable<Name>) => ({
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

  /** What has not ended though its time is over. */
  expired: listing(
    `select ${key}, tenant_id from read.${table}
     where finished_at is null and expires_at <= $1 order by expires_at, ${key} limit $2`,
    (now: string, limit: number) => [now, limit],
    nameOf,
  ),

  /** What ended and has an open hold, or was delivered and not charged: by its key, after one. */
  unsettled: listing(
    `select ${key}, tenant_id from (
       select w.${key}, w.tenant_id from read.open_holds h join read.${table} w on w.${workKey} = h.operation_id
       where w.finished_at is not null and w.tenant_id = h.tenant_id
       union
       select ${key}, tenant_id from read.${table}
       where ${DELIVERED} and hold_id is not null and credits_charged is null
     ) unsettled where ${key} > $1 order by ${key} limit $2`,
    (after: string, limit: number) => [after, limit],
    (row) => ({ ...nameOf(row), rank: textOf(row, key) }),
  ),

  /** What was never accepted and has open holds, placed before `before`. */
  orphans: listing(
    `select distinct h.tenant_id, ${keyOfHold} as ${key} from read.open_holds h
     where ${isHold} and h.created_at < $1
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
