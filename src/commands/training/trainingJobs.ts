import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import {
  trainingJob,
  trainingJobEvent,
  type TrainingJobKind,
  trainingJobStream,
  type TrainingWork,
} from '../../../domain/trainingJob.ts';
import { streamsOf } from '../writer/streams.ts';

/** A job, and whose it is. */
export type JobName = TrainingWork['identity'];

/** The streams of training jobs: the queue, and all there is to know of a job. */
export type TrainingJobs = ReturnType<typeof trainingJobs>;

const rules = { decider: trainingJob, codec: eventCodec(trainingJobEvent), streamOf: trainingJobStream };

export const trainingJobs = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<TrainingJobKind>(rules, store);
  return {
    handle: ({ job_id, tenant_id }: JobName, command: TrainingJobKind['command']) =>
      handle(job_id, command, tenant_id),
    /** From the log; `accepted` is null for one that was never created. */
    stateOf,
  };
};
