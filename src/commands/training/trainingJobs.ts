import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import type { TrainingJobCommand } from '../../../domain/trainingJob/commands.ts';
import { trainingJob, type TrainingJobKind } from '../../../domain/trainingJob/decider.ts';
import { trainingJobEvent, trainingJobStream } from '../../../domain/trainingJob/events.ts';
import { streamsOf } from '../writer/streams.ts';

/** A job, and whose it is. */
export interface JobName {
  readonly job_id: string;
  readonly tenant_id: string;
}

/** The streams of training jobs: the queue, and all there is to know of a job. */
export type TrainingJobs = ReturnType<typeof trainingJobs>;

const rules = { decider: trainingJob, codec: eventCodec(trainingJobEvent), streamOf: trainingJobStream };

export const trainingJobs = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<TrainingJobKind>(rules, store);
  return {
    handle: ({ job_id, tenant_id }: JobName, command: TrainingJobCommand) =>
      handle(job_id, command, tenant_id),
    /** From the log; `job` is null for one that was never created. */
    stateOf,
  };
};
