import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import type { TrainingJobCommand } from '../../../domain/trainingJob/commands.ts';
import {
  trainingJob,
  type TrainingJobState,
  type TrainingJobKind,
} from '../../../domain/trainingJob/decider.ts';
import { trainingJobEvent, trainingJobStream } from '../../../domain/trainingJob/events.ts';
import { commandHandler } from '../writer/commandHandler.ts';
import type { Outcome } from '../writer/outcome.ts';
import { stateIn } from '../writer/streamFold.ts';

/** The streams of training jobs: the queue, and all there is to know of a job. */
export interface TrainingJobs {
  readonly handle: (
    job: { readonly job_id: string; readonly tenant_id: string },
    command: TrainingJobCommand,
  ) => Promise<Outcome<TrainingJobKind>>;
  /** From the log; `job` is null for one that was never created. */
  readonly stateOf: (jobId: string) => Promise<TrainingJobState>;
}

const codec = eventCodec(trainingJobEvent);

export const trainingJobs = (store: EventStore): TrainingJobs => ({
  handle: ({ job_id, tenant_id }, command) =>
    commandHandler({ store, codec, decider: trainingJob, tenantOf: () => tenant_id })(
      trainingJobStream(job_id),
      command,
    ),
  stateOf: (jobId) => stateIn(store, trainingJobStream(jobId), { ...trainingJob, codec }),
});
