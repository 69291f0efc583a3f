import { randomUUID } from 'node:crypto';
import { systemClock } from '../../adapters/local/local.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import { artifacts } from '../../src/commands/deployments.ts';
import { trainingJobs } from '../../src/commands/training.ts';
import { listsOn } from '../../projections/queue.ts';
import { jobLists } from '../../projections/trainingJobs.ts';
import { uploadedExamples } from '../../src/service/work.ts';
import type { QueueWorker } from '../../src/worker/queue.ts';
import { trainingWorker, type TrainingWorkerDeps } from '../../src/worker/training.ts';
import type { TestApi } from '../http/support/testApi.ts';
import { plainTrainer } from './pipelineBench.ts';

/** A worker beside the service of a spec, over its parts and its read models; `accounts`: others than its own. */
export const workerOver = (
  { deps, log, sql, objects }: TestApi,
  accounts: TrainingWorkerDeps['accounts'] = deps.accounts,
): QueueWorker => {
  const { clock, reads, uploads, pipelines } = deps;
  const { jobs, artifacts } = pipelines;
  return trainingWorker({
    store: log,
    objects,
    jobs,
    artifacts,
    accounts,
    clock,
    lists: listsOn(jobLists, sql),
    trainer: plainTrainer,
    secrets: undefined,
    source: uploadedExamples(uploads),
    wrote: (tenantId, position) => reads.note(tenantId, position),
    worker: randomUUID(),
    tickMs: 5,
    onError: (error) => {
      throw error;
    },
  });
};

interface WorkerParts extends Pick<TrainingWorkerDeps, 'objects' | 'accounts' | 'trainer'> {
  readonly log: EventStore;
}

/** A worker over a log and objects alone, for jobs that are named to it. */
export const workerOn = (
  { log, ...parts }: WorkerParts,
  of: { readonly tenant_id: string; readonly jobs: readonly string[] },
): QueueWorker => {
  const jobs = trainingJobs(log);
  const named = () => Promise.resolve(of.jobs.map((job_id) => ({ job_id, tenant_id: of.tenant_id })));
  const none = () => Promise.resolve([]);
  return trainingWorker({
    ...parts,
    store: log,
    jobs,
    clock: systemClock(),
    secrets: undefined,
    artifacts: artifacts({ store: log, objects: parts.objects, jobs }),
    lists: { waiting: named, running: none, expired: none, unsettled: none, orphans: none },
    source: {
      fetch: () => Promise.resolve({ kind: 'problem', code: 'document_not_found', detail: 'Not here.' }),
    },
    wrote: () => undefined,
    worker: randomUUID(),
    tickMs: 1_000,
    onError: (error) => {
      throw error;
    },
  });
};
