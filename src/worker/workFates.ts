import type { Clock, EventStore } from '../../domain/ports/log.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { isBatchAbandoned } from '../../domain/batch.ts';
import type { OperationState } from '../../domain/operation.ts';
import { batchIdOfSplit } from '../../domain/split.ts';
import { usageEnd, operationOfWorkId } from '../../domain/workEvents.ts';
import { batches } from '../commands/batches.ts';
import { evaluationFates } from '../commands/evaluationObjects.ts';
import { operations } from '../commands/operations.ts';
import { expireReview } from '../commands/reviews.ts';
import { configFate } from '../commands/savedConfigs.ts';
import { tableFate } from '../commands/masterTables.ts';
import { exampleStreams, trainingInputKeyOf, trainingJobs } from '../commands/training.ts';
import type { UsageLog } from '../commands/usageLog.ts';
import { webhookFate } from '../commands/webhooks.ts';
import type { WorkFate, WorkObjectsDeps } from './sweeping.ts';

interface WorkFatesDeps {
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly usage: Pick<UsageLog, 'stateOf'>;
}

const endedOrOpen = (
  at: string | null | undefined,
  { tenant_id }: { readonly tenant_id: string },
): WorkFate => (at == null ? { kind: 'open' } : { kind: 'ended', at, tenant_id });

/** The log's record of the work that objects are for. */
export const workFates = ({ store: log, objects, clock, usage }: WorkFatesDeps): WorkObjectsDeps => {
  const [ops, jobs, bats] = [operations(log), trainingJobs(log), batches(log)];
  const examples = exampleStreams(log);
  const unknown = { kind: 'unknown' } as const;
  const batchFate = async (id: string): Promise<WorkFate> => {
    const { accepted, ended } = await bats.stateOf(id);
    return accepted === null ? unknown : endedOrOpen(ended?.ended_at, accepted);
  };
  /** Whether the parts of a split are to be a batch, or are one that has not ended: it reads the file of the split. */
  const isForParts = async ({ accepted, success }: OperationState): Promise<boolean> => {
    if (accepted?.kind !== 'split') return false;
    const batch = await bats.stateOf(batchIdOfSplit(accepted.work_id));
    if (batch.accepted !== null) return batch.ended === null;
    return success?.then_batch_id !== undefined && !isBatchAbandoned(batch);
  };
  /** By the prefix of an ID; all others are batches. */
  const fates: Readonly<Record<string, WorkObjectsDeps['queuedFate']>> = {
    op: async (id) => {
      const state = await ops.stateOf(id);
      if (state.accepted === null) return unknown;
      const until = await expireReview({ store: log, clock }, state);
      if (until !== undefined) return { kind: 'open', stays: 'hours', until };
      return endedOrOpen((await isForParts(state)) ? null : state.finished_at, state.accepted);
    },
    job: async (id) => {
      const state = await jobs.stateOf(id);
      if (state.accepted === null) return unknown;
      const kept = await examples.keptOf(state.accepted);
      return {
        ...endedOrOpen(state.finished_at, state.accepted),
        keeps: trainingInputKeyOf(id, kept.input_sha256),
      };
    },
    ...evaluationFates({ store: log, objects, clock, batches: bats }),
    tbl: tableFate(log),
    cfg: configFate(log),
    wh: webhookFate(log),
  };
  return {
    queuedFate: (id) => (fates[/^[a-z]+/.exec(id)?.[0] ?? ''] ?? batchFate)(id),
    workFate: async (operation_id) => {
      const operation = operationOfWorkId(operation_id);
      const state = await usage.stateOf({ operation, operation_id });
      const end = usageEnd(state);
      if (end !== null) return { kind: 'ended', ...end };
      return state.requested === null ? unknown : { kind: 'open' };
    },
  };
};
