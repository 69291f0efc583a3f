import type { BulkRow } from '../engine/apply/bulk.ts';
import { bulk, inserting, updating } from '../engine/apply/bulk.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../engine/feed/event.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { pick, type Row } from '../engine/table.ts';
import { trainingDocuments, trainingJobs } from './trainingJobs.schema.ts';

const create = inserting(trainingJobs, { firstStands: true });
const learn = inserting(trainingDocuments, { firstStands: true });
/** Null in `attempt`, `ready_at` or `started_at` leaves the column as it was. */
const moved = bulk({
  ...pick(
    trainingJobs.columns,
    'job_id',
    'status',
    'artifact_id',
    'problem_code',
    'started_at',
    'finished_at',
  ),
  attempt: 'int4?',
  ready_at: 'sorted?',
});
const charge = updating(trainingJobs, 'job_id', 'credits_charged');
const released = bulk({ hold_id: 'text', position: 'position' });

const MOVE = (schema: string) => `
  update ${schema}.training_jobs j
  set status = u.status, attempt = coalesce(u.attempt, j.attempt), ready_at = coalesce(u.ready_at, j.ready_at),
    artifact_id = u.artifact_id, problem_code = u.problem_code,
    started_at = coalesce(j.started_at, u.started_at), finished_at = u.finished_at
  from ${moved.source()} where j.job_id = u.job_id`;

/** A hold of the same ID may have been placed and released before its job was created. */
const RELEASE = (schema: string) => `
  update ${schema}.training_jobs j set hold_closed = true
  from ${released.source()} where j.hold_id = u.hold_id and u.position > j.position`;

type Move = BulkRow<typeof moved>;

const STILL = { attempt: null, ready_at: null, artifact_id: null, problem_code: null };
const RUNNING = { ...STILL, started_at: null, finished_at: null };

const startOf = ({ data }: ProjectedEventOf<'TrainingJobStarted'>): Move => ({
  ...RUNNING,
  job_id: data.job_id,
  status: 'running',
  attempt: data.attempt,
  ready_at: data.lease_until,
  started_at: data.started_at,
});

const moveOf = (event: ProjectedEvent): readonly Move[] => {
  switch (event.type) {
    case 'TrainingJobStarted':
      return [startOf(event)];
    case 'TrainingJobProgressed': {
      const { job_id, lease_until: ready_at, gave_up } = event.data;
      return [{ ...RUNNING, job_id, status: gave_up === null ? 'running' : 'queued', ready_at }];
    }
    case 'TrainingJobSucceeded': {
      const { job_id, artifact_id, succeeded_at: finished_at } = event.data;
      return [{ ...RUNNING, job_id, status: 'succeeded', artifact_id, finished_at }];
    }
    case 'TrainingJobFailed': {
      const { job_id, code: problem_code, failed_at: finished_at } = event.data;
      return [{ ...RUNNING, job_id, status: 'failed', problem_code, finished_at }];
    }
    case 'TrainingJobCancelled':
      return [
        { ...RUNNING, job_id: event.data.job_id, status: 'cancelled', finished_at: event.data.cancelled_at },
      ];
    default:
      return [];
  }
};

/** One row a job: what later moves do not say, earlier ones of the same batch do. */
const joined = (moves: readonly Move[]): readonly Move[] => {
  const rows = new Map<string, Move>();
  for (const move of moves) {
    const before = rows.get(move.job_id);
    rows.set(move.job_id, {
      ...move,
      attempt: move.attempt ?? before?.attempt ?? null,
      ready_at: move.ready_at ?? before?.ready_at ?? null,
      started_at: before?.started_at ?? move.started_at,
    });
  }
  return [...rows.values()];
};

const createdRow = ({ data, position }: ProjectedEventOf<'TrainingJobCreated'>) => ({
  ...data,
  ...{ ...RUNNING, position, status: 'queued', attempt: 0, ready_at: data.created_at },
  ...{ hold_closed: false, credits_charged: null },
});

const documentsOf = ({
  data: { job_id, tenant_id, document_ids = [''] },
}: ProjectedEventOf<'TrainingJobCreated'>): readonly Row<typeof trainingDocuments>[] =>
  document_ids.map((document_id) => ({ document_id, job_id, tenant_id }));

/** Training jobs: the queue as workers look at it, and whether each was paid for. */
export const trainingJobsProjector: Projector = {
  name: 'training_jobs',
  version: 2,
  eventTypes: [
    'TrainingJobCreated',
    'TrainingJobStarted',
    'TrainingJobProgressed',
    'TrainingJobSucceeded',
    'TrainingJobFailed',
    'TrainingJobCancelled',
    'CreditsBurned',
    'HoldReleased',
  ],
  tables: [trainingJobs, trainingDocuments],
  apply: async (tx, { schema, events }) => {
    const jobs = only(events, 'TrainingJobCreated');
    const burns = only(events, 'CreditsBurned').filter(({ data }) => data.operation === 'training');
    const moves = joined(events.flatMap(moveOf));
    const holds = only(events, 'HoldReleased');
    await create(tx, schema, jobs.map(createdRow));
    await learn(tx, schema, jobs.flatMap(documentsOf));
    if (moves.length > 0) await tx.query(MOVE(schema), moved.values(moves));
    await charge(
      tx,
      schema,
      burns.map(({ data }) => ({ job_id: data.operation_id, credits_charged: data.credits })),
    );
    if (holds.length > 0)
      await tx.query(
        RELEASE(schema),
        released.values(holds.map(({ data, position }) => ({ hold_id: data.hold_id, position }))),
      );
  },
};
