import { inserting, updating } from '../engine/apply/bulk.ts';
import { only, type ProjectedEventOf } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import type { Row } from '../engine/table.ts';
import { moveQueue, QUEUED } from '../queue/queueMoves.ts';
import { trainingDocuments, trainingJobs } from './trainingJobs.schema.ts';

const create = inserting(trainingJobs, { firstStands: true });
const learn = inserting(trainingDocuments, { firstStands: true });
const publish = updating(trainingJobs, 'job_id', 'artifact_id');
const charge = updating(trainingJobs, 'job_id', 'credits_charged');

const createdRow = ({ data, position }: ProjectedEventOf<'TrainingJobCreated'>) => ({
  ...data,
  ...{ ...QUEUED, position, ready_at: data.created_at },
  ...{ artifact_id: null, credits_charged: null },
});

const documentsOf = ({
  data: { job_id, tenant_id, document_ids = [''] },
}: ProjectedEventOf<'TrainingJobCreated'>): readonly Row<typeof trainingDocuments>[] =>
  document_ids.map((document_id) => ({ document_id, job_id, tenant_id }));

/** Training jobs: the queue as workers look at it, and whether each was paid for. */
export const trainingJobsProjector: Projector = {
  name: 'training_jobs',
  version: 3,
  eventTypes: [
    'TrainingJobCreated',
    'TrainingJobStarted',
    'TrainingJobProgressed',
    'TrainingJobSucceeded',
    'TrainingJobFailed',
    'TrainingJobCancelled',
    'CreditsBurned',
  ],
  tables: [trainingJobs, trainingDocuments],
  apply: async (tx, { schema, events }) => {
    const jobs = only(events, 'TrainingJobCreated');
    const burns = only(events, 'CreditsBurned').filter(({ data }) => data.operation === 'training');
    await create(tx, schema, jobs.map(createdRow));
    await learn(tx, schema, jobs.flatMap(documentsOf));
    await moveQueue(tx, { table: `${schema}.training_jobs`, key: 'job_id' }, events);
    await publish(
      tx,
      schema,
      only(events, 'TrainingJobSucceeded').map(({ data }) => data),
    );
    await charge(
      tx,
      schema,
      burns.map(({ data }) => ({ job_id: data.operation_id, credits_charged: data.credits })),
    );
  },
};
