import { byType, type AuditedEventOf } from '../log/auditedEvent.ts';
import { artifacts } from '../../../projections/artifacts.ts';
import { deployments } from '../../../projections/deployments.ts';
import { trainingDocuments, trainingJobs } from '../../../projections/trainingJobs.ts';
import { keptRows, noneOf, type ExpectedModel } from './expectedRows.ts';

const queuedRow = ({ data, position }: AuditedEventOf<'TrainingJobCreated'>) => ({
  ...noneOf(trainingJobs.columns),
  ...data,
  position,
  status: 'queued',
  attempt: 0,
  ready_at: data.created_at,
  hold_closed: false,
});

/** Training jobs as they stand, and the documents they learn from. */
export const trainingJobRows: ExpectedModel = {
  name: 'training_jobs',
  tables: [trainingJobs, trainingDocuments],
  start: (emit) => {
    const jobs = keptRows(trainingJobs, emit);
    const apply = byType({
      TrainingJobCreated: (event) => {
        const { job_id, tenant_id, document_ids } = event.data;
        for (const document_id of new Set(document_ids ?? ['']))
          emit(trainingDocuments, { document_id, job_id, tenant_id });
        jobs.set(job_id, queuedRow(event));
      },
      TrainingJobStarted: ({ data: { job_id, attempt, lease_until: ready_at, ...data } }) => {
        const started_at = jobs.get(job_id)?.started_at ?? data.started_at;
        jobs.change(job_id, { status: 'running', attempt, ready_at, started_at });
      },
      TrainingJobProgressed: ({ data: { job_id, gave_up, lease_until: ready_at } }) =>
        jobs.change(job_id, { status: gave_up === null ? 'running' : 'queued', ready_at }),
      TrainingJobSucceeded: ({ data: { job_id, artifact_id, succeeded_at: finished_at } }) =>
        jobs.change(job_id, { status: 'succeeded', artifact_id, finished_at }),
      TrainingJobFailed: ({ data: { job_id, code: problem_code, failed_at: finished_at } }) =>
        jobs.change(job_id, { status: 'failed', problem_code, finished_at }),
      TrainingJobCancelled: ({ data: { job_id, cancelled_at: finished_at } }) =>
        jobs.change(job_id, { status: 'cancelled', finished_at }),
      CreditsBurned: ({ data: { operation, operation_id, credits: credits_charged } }) => {
        if (operation === 'training') jobs.change(operation_id, { credits_charged });
      },
    });
    return { apply, finish: jobs.emitAll };
  },
};

/** Artifacts, and which of them may be used. */
export const artifactRows: ExpectedModel = {
  name: 'artifacts',
  tables: [artifacts],
  start: (emit) => {
    const rows = keptRows(artifacts, emit);
    const apply = byType({
      ArtifactPublished: ({ data, position }) => {
        const { baseline_score, best_score, per_field } = data;
        const scores = { baseline_score, best_score, per_field };
        rows.set(data.artifact_id, { ...data, position, scores, is_usable: false });
      },
      TrainingJobSucceeded: ({ data }) => rows.change(data.artifact_id, { is_usable: true }),
    });
    return { apply, finish: rows.emitAll };
  },
};

/** Deployments, serving and retired. */
export const deploymentRows: ExpectedModel = {
  name: 'deployments',
  tables: [deployments],
  start: (emit) => {
    const rows = keptRows(deployments, emit);
    const apply = byType({
      DeploymentActivated: ({ position, data: { rollout, ...data } }) =>
        rows.set(data.deployment_id, { ...data, ...rollout, position, retired_at: null }),
      DeploymentRetired: ({ data: { deployment_id, retired_at } }) =>
        rows.change(deployment_id, { retired_at }),
    });
    return { apply, finish: rows.emitAll };
  },
};
