import { bulk, type BulkRow } from '../engine/apply/bulk.ts';
import type { ProjectedEvent } from '../engine/feed/event.ts';
import type { SqlTx } from '../engine/ports.ts';

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
