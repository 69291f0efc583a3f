import type { AuditedEvent, AuditedEventOf } from '../log/auditedEvent.ts';
import { artifacts } from '../../../projections/artifacts/artifacts.schema.ts';
import { deployments } from '../../../projections/deployments/deployments.schema.ts';
import { trainingDocuments, trainingJobs } from '../../../projections/trainingJobs/trainingJobs.schema.ts';
import {
  change,
  emitAll,
  type Emit,
  type ExpectedModel,
  type ExpectedRow,
  type ExpectedRows,
} from './expectedRows.ts';

type Jobs = ExpectedRows<typeof trainingJobs>;

const queuedRow = ({
  data,
  position,
}: AuditedEventOf<'TrainingJobCreated'>): ExpectedRow<typeof trainingJobs> => ({
  job_id: data.job_id,
  tenant_id: data.tenant_id,
  position,
  project_id: data.project_id,
  task_id: data.task_id,
  name: data.name,
  status: 'queued',
  attempt: 0,
  ready_at: data.created_at,
  expires_at: data.expires_at,
  artifact_id: null,
  problem_code: null,
  hold_id: data.hold_id,
  hold_closed: false,
  credits: data.credits,
  credits_charged: null,
  created_at: data.created_at,
  started_at: null,
  finished_at: null,
});

const started = (jobs: Jobs, { data }: AuditedEventOf<'TrainingJobStarted'>): void => {
  const started_at = jobs.get(data.job_id)?.started_at ?? data.started_at;
  const { attempt, lease_until: ready_at } = data;
  change(jobs, data.job_id, { status: 'running', attempt, ready_at, started_at });
};

const progressed = (jobs: Jobs, { data }: AuditedEventOf<'TrainingJobProgressed'>): void => {
  const status = data.gave_up === null ? 'running' : 'queued';
  change(jobs, data.job_id, { status, ready_at: data.lease_until });
};

const moveJob = (jobs: Jobs, event: AuditedEvent): void => {
  switch (event.type) {
    case 'TrainingJobCreated':
      jobs.set(event.data.job_id, queuedRow(event));
      return;
    case 'TrainingJobStarted':
      started(jobs, event);
      return;
    case 'TrainingJobProgressed':
      progressed(jobs, event);
      return;
    case 'TrainingJobSucceeded': {
      const { job_id, artifact_id, succeeded_at: finished_at } = event.data;
      change(jobs, job_id, { status: 'succeeded', artifact_id, finished_at });
      return;
    }
    case 'TrainingJobFailed': {
      const { job_id, code: problem_code, failed_at: finished_at } = event.data;
      change(jobs, job_id, { status: 'failed', problem_code, finished_at });
      return;
    }
    case 'TrainingJobCancelled':
      change(jobs, event.data.job_id, { status: 'cancelled', finished_at: event.data.cancelled_at });
      return;
    default:
  }
};

/** Holds of jobs by ID, so that a release finds its job. */
const moveMoney = (jobs: Jobs, holds: Map<string, string>, event: AuditedEvent): void => {
  if (event.type === 'TrainingJobCreated' && event.data.hold_id !== null)
    holds.set(event.data.hold_id, event.data.job_id);
  if (event.type === 'HoldReleased') {
    const job = holds.get(event.data.hold_id);
    if (job !== undefined) change(jobs, job, { hold_closed: true });
  }
  if (event.type === 'CreditsBurned' && event.data.operation === 'training')
    change(jobs, event.data.operation_id, { credits_charged: event.data.credits });
};

const examplesOf = ({ type, data }: AuditedEvent, emit: Emit): void => {
  if (type !== 'TrainingJobCreated') return;
  const { job_id, tenant_id } = data;
  for (const document_id of new Set(data.document_ids ?? ['']))
    emit(trainingDocuments, { document_id, job_id, tenant_id });
};

/** Training jobs as they stand, and the documents they learn from. */
export const trainingJobRows: ExpectedModel = {
  name: 'training_jobs',
  tables: [trainingJobs, trainingDocuments],
  start: () => {
    const jobs: Jobs = new Map();
    const holds = new Map<string, string>();
    return {
      apply: (event, emit) => {
        examplesOf(event, emit);
        moveJob(jobs, event);
        moveMoney(jobs, holds, event);
      },
      finish: (emit) => emitAll(jobs, trainingJobs, emit),
    };
  },
};

/** Artifacts, and which of them may be used. */
export const artifactRows: ExpectedModel = {
  name: 'artifacts',
  tables: [artifacts],
  start: () => {
    const rows: ExpectedRows<typeof artifacts> = new Map();
    return {
      apply: (event) => {
        if (event.type === 'ArtifactPublished') {
          const { data } = event;
          const { baseline_score, best_score, per_field } = data;
          const scores = { baseline_score, best_score, per_field };
          rows.set(data.artifact_id, { ...data, position: event.position, scores, is_usable: false });
        }
        if (event.type === 'TrainingJobSucceeded') change(rows, event.data.artifact_id, { is_usable: true });
      },
      finish: (emit) => emitAll(rows, artifacts, emit),
    };
  },
};

/** Deployments, serving and retired. */
export const deploymentRows: ExpectedModel = {
  name: 'deployments',
  tables: [deployments],
  start: () => {
    const rows: ExpectedRows<typeof deployments> = new Map();
    return {
      apply: (event) => {
        if (event.type === 'DeploymentActivated') {
          const { rollout, ...data } = event.data;
          rows.set(data.deployment_id, { ...data, ...rollout, position: event.position, retired_at: null });
        }
        if (event.type === 'DeploymentRetired')
          change(rows, event.data.deployment_id, { retired_at: event.data.retired_at });
      },
      finish: (emit) => emitAll(rows, deployments, emit),
    };
  },
};
