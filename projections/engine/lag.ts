import type { KnownLog } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { firstEventAfter } from './divergence.ts';
import type { SqlTx, SqlRow } from './ports.ts';
import { hasRegistry } from './registry.ts';
import { type ParkedTenant, parkedTenants } from './parking.ts';
import { bigintOrNull, flagOf, textOf, wholeOf } from './table.ts';

/** How late one read model is. */
export interface ModelLag {
  readonly name: string;
  /** When the oldest event that is not applied was recorded; null: none waits. */
  readonly waiting_since: string | null;
  /** Age of that event; 0: none waits. */
  readonly lag_seconds: number;
  /** For how long the checkpoint has not moved while events wait; 0: none waits. */
  readonly still_seconds: number;
  /** Somebody has paused it. */
  readonly is_paused: boolean;
  /** Tenants whose events it leaves. */
  readonly parked: readonly ParkedTenant[];
}

/** A read model that has not moved for this long while events wait needs a person. */
export const STILL_MAX_SECONDS = 120;

interface LagDeps {
  readonly sql: SqlTx;
  readonly feed: KnownLog;
  readonly nowMs: () => number;
}

/** The database compares with its own clock: checkpoints carry its times. */
const CHECKPOINTS = `
  select name, position, failed_position, (to_jsonb(registry) ->> 'paused_at') is not null as is_paused,
    greatest(extract(epoch from now() - updated_at::timestamptz) * 1000, 0)::int8 as still_ms
  from projections.registry where serves order by name`;

/** The position after which a read model has everything to apply. */
const afterOf = (row: SqlRow): bigint | null => {
  const failed = bigintOrNull(row, 'failed_position');
  // Events between the last one that was applied and the one that failed were of no interest to it.
  return failed === null || failed === 0n ? bigintOrNull(row, 'position') : failed - 1n;
};

const recordedMs = (event: RecordedEvent): number => {
  const at = event.metadata['recorded_at'];
  return typeof at === 'string' ? Date.parse(at) : Number.NaN;
};

type Lateness = Pick<ModelLag, 'waiting_since' | 'lag_seconds' | 'still_seconds'>;

const latenessOf = (row: SqlRow, oldest: RecordedEvent | undefined, nowMs: number): Lateness => {
  if (oldest === undefined) return { waiting_since: null, lag_seconds: 0, still_seconds: 0 };
  const stillMs = wholeOf(row, 'still_ms');
  const at = recordedMs(oldest);
  // An event without a time has waited at most since the checkpoint last moved.
  const since = Number.isNaN(at) ? nowMs - stillMs : at;
  const lagMs = Math.max(0, nowMs - since);
  return {
    waiting_since: new Date(since).toISOString(),
    lag_seconds: lagMs / 1000,
    // A checkpoint rests for as long as nothing is written: that counts only from the first event on.
    still_seconds: Math.min(stillMs, lagMs) / 1000,
  };
};

/**
 * How late each read model is, by what is committed and what the log holds: any process can tell, whether the one
 * that projects runs, hangs or has lost its subscription. Reads one event for each position that checkpoints have.
 */
export const modelLags = async ({ sql, feed, nowMs }: LagDeps): Promise<readonly ModelLag[]> => {
  if (!(await hasRegistry(sql))) return [];
  const rows = await sql.query(CHECKPOINTS);
  const oldest = new Map<bigint | null, RecordedEvent | undefined>();
  for (const after of new Set(rows.map(afterOf)))
    oldest.set(after, await firstEventAfter(feed, after ?? undefined));
  const parked = await parkedTenants(sql);
  const now = nowMs();
  return rows.map((row) => {
    const name = textOf(row, 'name');
    return {
      name,
      ...latenessOf(row, oldest.get(afterOf(row)), now),
      is_paused: flagOf(row, 'is_paused'),
      parked: parked.filter((one) => one.name === name),
    };
  });
};

/** Names of read models that stand still although events wait, and that nobody has paused. */
export const standingStill = (
  lags: readonly Pick<ModelLag, 'name' | 'still_seconds' | 'is_paused'>[],
): readonly string[] =>
  lags
    .filter(({ still_seconds, is_paused }) => still_seconds >= STILL_MAX_SECONDS && !is_paused)
    .map(({ name }) => name);
