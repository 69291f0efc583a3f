import { laterBy } from '../../../domain/kernel/amounts.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import { sweeperOf, type Sweeper } from '../sweeping/sweeper.ts';
import { SYSTEM } from '../writer/commandMeta.ts';
import type { KeptFacts } from './keptFacts.ts';
import { wasGivenUp, type HoldDeps } from '../work/holds.ts';
import type { WorkEndFact } from './workFact.ts';

/** A burned extraction or conversion whose usage event a read model does not know. */
export interface UnrecordedWork {
  readonly operation_id: string;
  readonly operation: WorkEndFact['operation'];
  readonly tenant_id: string;
  readonly pages: number;
  readonly free_pages: number;
  readonly status: 'success' | 'partial';
  readonly duration_ms: number;
  readonly burned_at: string;
}

/** An extraction or conversion that was asked for and has neither an open hold nor an end. */
export type AbandonedWork = Pick<WorkEndFact, 'operation' | 'operation_id' | 'tenant_id' | 'pages'>;

interface UnfinishedSweeperDeps extends HoldDeps {
  readonly facts: KeptFacts;
  /** Throws while the log is away: then a sweep would only wait, fact by fact. */
  readonly checkLog: () => Promise<unknown>;
  /** Burned before `before`, oldest first. May be late; the stream of the work decides. */
  readonly unrecordedBefore: (before: string, limit: number) => Promise<readonly UnrecordedWork[]>;
  /** Asked for before `before`, oldest first. May be late; the account decides. */
  readonly abandonedBefore: (before: string, limit: number) => Promise<readonly AbandonedWork[]>;
  readonly clock: Pick<Clock, 'now'>;
  readonly everyMs?: number;
  readonly onSweep?: (report: UnfinishedSweep) => void;
  readonly onError?: (error: unknown) => void;
}

export interface UnfinishedSweep {
  readonly model_calls: number;
  readonly usage_events: number;
  /** Could not be written now; the next sweep tries again. */
  readonly left: number;
}

/** Sweeps every minute. */
export type UnfinishedSweeper = Sweeper<UnfinishedSweep>;

const PAGE = 500;
/** A younger burn is still in its own request's hands. */
const BURN_AGE_MS = 10_000;
/** Younger work without a hold may be between two steps, or a read model late. */
const ABANDONED_AGE_MS = 10 * 60_000;

/** Writes the usage events and cost entries that an outage or a crash kept out of the log. Many may run at once. */
export const unfinishedSweeper = (deps: UnfinishedSweeperDeps): UnfinishedSweeper =>
  sweeperOf(() => sweepOnce(deps), { everyMs: deps.everyMs ?? 60_000, onError: deps.onError });

/** The usage event as its own request would have written it: the burn says what it needs. */
const endOf = ({ burned_at, status, duration_ms, free_pages, ...work }: UnrecordedWork): WorkEndFact => ({
  kind: 'work_end',
  ...work,
  end: { kind: 'completed', status, free_pages, duration_ms },
  ended_at: burned_at,
  correlation_id: `sweep-${work.operation_id}`,
  actor: SYSTEM,
});

const sweepOnce = async (deps: UnfinishedSweeperDeps): Promise<UnfinishedSweep> => {
  await deps.checkLog();
  const kept = await deps.facts.finish();
  const before = laterBy(deps.clock.now(), -BURN_AGE_MS);
  const burned = await deps.unrecordedBefore(before, PAGE);
  for (const work of burned) await deps.facts.record(endOf(work));
  const failed = await failAbandoned(deps);
  const report = {
    model_calls: kept.model_calls,
    usage_events: kept.work_ends + burned.length + failed,
    left: kept.left,
  };
  deps.onSweep?.(report);
  return report;
};

/** Work whose process died, and whose hold was given back since, has failed. Gives how many. */
const failAbandoned = async (deps: UnfinishedSweeperDeps): Promise<number> => {
  const now = deps.clock.now();
  let failed = 0;
  for (const work of await deps.abandonedBefore(laterBy(now, -ABANDONED_AGE_MS), PAGE)) {
    if (!(await wasGivenUp(deps, work))) continue;
    const how = { kind: 'work_end', end: { kind: 'failed', code: 'internal_error' }, ended_at: now } as const;
    await deps.facts.record({ ...work, ...how, correlation_id: `sweep-${work.operation_id}`, actor: SYSTEM });
    failed += 1;
  }
  return failed;
};
