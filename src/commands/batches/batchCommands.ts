import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';
import type { acceptBatch } from './acceptBatch.ts';
import type { Batches, BatchName } from './batches.ts';

interface CancelDeps {
  readonly batches: Batches;
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/**
 * Cancels a batch: from this event on no document is begun. Those that wait in the queue already the workers
 * cancel, and give their holds back. `cancelled` is false for one that was cancelled or had ended before.
 */
export const cancelBatch =
  ({ batches, wrote }: CancelDeps) =>
  async (
    name: BatchName,
    meta: CommandMeta,
  ): Promise<{ readonly kind: 'answered'; readonly cancelled: boolean } | WorkProblem> => {
    const outcome = await batches.handle(name, { type: 'CancelBatch', meta });
    if (outcome.kind === 'rejected') return { kind: 'answered', cancelled: false };
    if (outcome.kind !== 'done')
      return workProblem('busy', 'The batch could not be cancelled now. Send the request again in a moment.');
    if (outcome.position !== undefined) wrote(name.tenant_id, outcome.position);
    return { kind: 'answered', cancelled: outcome.events.length > 0 };
  };

/** What routes call for batches. */
export interface BatchCommands {
  readonly accept: ReturnType<typeof acceptBatch>;
  readonly cancel: ReturnType<typeof cancelBatch>;
  readonly streams: Batches;
}
