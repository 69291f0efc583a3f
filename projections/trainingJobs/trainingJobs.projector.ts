import type { BulkRow } from '../engine/apply/bulk.ts';
import { bulk } from '../engine/apply/bulk.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../engine/feed/event.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { trainingJobsDdl, trainingJobsTables } from './trainingJobs.schema.ts';

const created = bulk({
  job_id: 'text',
  tenant_id: 'text',
  position: 'int8',
  project_id: 'text',
  task_id: 'text',
  name: 'text',
  ready_at: 'text',
  expires_at: 'text',
  hold_id: 'text',
  credits: 'int8',
  created_at: 'text',
});
/** What is null stays as it was. */
const moved = bulk({
  job_id: 'text',
  status: 'text',
  attempt: 'int4',
  ready_at: 'text',
  artifact_id: 'text',
  problem_code: 'text',
  started_at: 'text',
  finished_at: 'text',
});
const charged = bulk({ job_id: 'text', credits: 'int8' });
const released = bulk({ hold_id: 'text', position: 'int8' });

const CREATE = (schema: string) => `
  insert into ${schema}.training_jobs (${created.names}, status, attempt, hold_closed)
  select ${created.names}, 'queued', 0, false from ${created.source()}
  on conflict (job_id) do nothing`;

const MOVE = (schema: string) => `
  update ${schema}.training_jobs j
  set status = u.status, attempt = coalesce(u.attempt, j.attempt), ready_at = coalesce(u.ready_at, j.ready_at),
    artifact_id = u.artifact_id, problem_code = u.problem_code,
    started_at = coalesce(j.started_at, u.started_at), finished_at = u.finished_at
  from ${moved.source()} where j.job_id = u.job_id`;

const CHARGE = (schema: string) => `
  update ${schema}.training_jobs j set credits_charged = u.credits
  from ${charged.source()} where j.job_id = u.job_id`;

/** A hold of the same ID may have been placed and released before its job was created. */
const RELEASE = (schema: string) => `
  update ${schema}.training_jobs j set hold_closed = true
  from ${released.source()} where j.hold_id = u.hold_id and u.position > j.position`;

type Move = BulkRow<typeof moved> & { readonly job_id: string };

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

const createdRow = ({ data, position }: ProjectedEventOf<'TrainingJobCreated'>): BulkRow<typeof created> => ({
  ...data,
  position,
  ready_at: data.created_at,
});

/** Training jobs: the queue as workers look at it, and whether each was paid for. */
export const trainingJobsProjector: Projector = {
  name: 'training_jobs',
  version: 1,
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
  tables: trainingJobsTables,
  ddl: trainingJobsDdl,
  apply: async (tx, { schema, events }) => {
    const rows = only(events, 'TrainingJobCreated').map(createdRow);
    const moves = joined(events.flatMap(moveOf));
    const burns = only(events, 'CreditsBurned').filter(({ data }) => data.operation === 'training');
    const holds = only(events, 'HoldReleased');
    if (rows.length > 0) await tx.query(CREATE(schema), created.values(rows));
    if (moves.length > 0) await tx.query(MOVE(schema), moved.values(moves));
    if (burns.length > 0)
      await tx.query(
        CHARGE(schema),
        charged.values(burns.map(({ data }) => ({ job_id: data.operation_id, credits: data.credits }))),
      );
    if (holds.length > 0)
      await tx.query(
        RELEASE(schema),
        released.values(holds.map(({ data, position }) => ({ hold_id: data.hold_id, position }))),
      );
  },
};
