import type { Registry } from 'prom-client';
import { openHoldsSummary, type OpenHoldsSummary } from '../../projections/balances.ts';
import { openBatchesSummary } from '../../projections/batches.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import { openClaimsSummary } from '../../projections/openClaims.ts';
import { waitingOperations } from '../../projections/operations.ts';
import { openJobsByStatus } from '../../projections/trainingJobs.ts';
import { pulledGauges, pulledGaugesBy } from './gauge.ts';
import { pulled, type PullOptions } from './pulled.ts';

interface Stock {
  /** When the figures were read, ms since 1970. */
  readonly at: number;
  readonly holds: OpenHoldsSummary;
  readonly claims: { readonly count: number; readonly oldest_at: string | null };
  readonly batches: { readonly count: number; readonly oldest_at: string | null };
  readonly waiting: { readonly count: number; readonly oldest_at: string | null };
  readonly jobs: ReadonlyMap<string, number>;
}

const OPEN_STATES = ['queued', 'running'];

const ageOf = (at: number, oldest: string | null): number =>
  oldest === null ? 0 : Math.max(0, (at - Date.parse(oldest)) / 1000);

const stockOf = (sql: SqlTx, now: () => string): (() => Promise<Stock>) => {
  const [holdsAt, claimsOf, jobsOf] = [openHoldsSummary(sql), openClaimsSummary(sql), openJobsByStatus(sql)];
  const [batchesOf, waitingOf] = [openBatchesSummary(sql), waitingOperations(sql)];
  return async () => {
    const instant = now();
    const asked = [holdsAt(instant), claimsOf(), jobsOf(), batchesOf(), waitingOf()] as const;
    const [holds, claims, jobs, batches, waiting] = await Promise.all(asked);
    return { at: Date.parse(instant), holds, claims, jobs, batches, waiting };
  };
};

/** Gauges of what is open in the read models; they vanish while Postgres is away. */
export const stockMetrics = (
  register: Registry,
  { sql, now }: { readonly sql: SqlTx; readonly now: () => string },
  options?: PullOptions,
): void => {
  const stock = pulled(stockOf(sql, now), options);
  const show = pulledGauges(register, stock);
  show('quire_open_holds', 'Holds that are neither settled nor released.', ({ holds }) => holds.count);
  show(
    'quire_expired_holds',
    'Open holds that have expired: a sweeper releases them.',
    ({ holds }) => holds.expired,
  );
  show(
    'quire_oldest_open_hold_seconds',
    'Age of the oldest open hold; 0 when none is open.',
    ({ at, holds }) => ageOf(at, holds.oldest_at),
  );
  show(
    'quire_open_claims',
    'Payment identities that are claimed but neither booked nor released.',
    ({ claims }) => claims.count,
  );
  show(
    'quire_oldest_open_claim_seconds',
    'Age of the oldest claim without an outcome; 0 when there is none.',
    ({ at, claims }) => ageOf(at, claims.oldest_at),
  );
  show('quire_open_batches', 'Batches that have not ended.', ({ batches }) => batches.count);
  show(
    'quire_oldest_open_batch_seconds',
    'Age of the oldest batch that has not ended; 0 when there is none.',
    ({ at, batches }) => ageOf(at, batches.oldest_at),
  );
  show('quire_operations_waiting', 'Operations that wait for a worker.', ({ waiting }) => waiting.count);
  show(
    'quire_oldest_waiting_operation_seconds',
    'Time since the oldest operation that waits for a worker was accepted; 0 when none waits.',
    ({ at, waiting }) => ageOf(at, waiting.oldest_at),
  );
  pulledGaugesBy(register, 'state', stock)(
    'quire_training_jobs',
    'Training jobs that have not ended, by state.',
    ({ jobs }) => OPEN_STATES.map((state) => [state, jobs.get(state) ?? 0]),
  );
};

/** Shows the places of this process's worker as they are when a page of metrics is asked for. */
export const placeMetrics = (
  register: Registry,
  places: () => { readonly busy: number; readonly max: number } | undefined,
): void =>
  pulledGaugesBy(register, 'state', places)(
    'quire_worker_places',
    'Operations that this process works on, and places for more (`WORKER_PLACES`); only with the role worker.',
    ({ busy, max }) => [
      ['busy', busy],
      ['free', max - busy],
    ],
  );
