import { unlessDiverged } from '../start/logWatchParts.ts';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ExampleSource, Trainer } from '../../../domain/ports/trainer.ts';
import type { SecretBox } from '../../../domain/ports/services.ts';
import { listsOn } from '../../../projections/queue.ts';
import { jobLists } from '../../../projections/trainingJobs.ts';
import { artifacts, deployments, type PipelineCommands } from '../../commands/deployments.ts';
import { cancelWork } from '../../commands/queue.ts';
import {
  type CreateTrainingDeps,
  createTrainingJob,
  jobMoney,
  trainingJobs,
} from '../../commands/training.ts';
import type { CountPagesDeps } from '../../commands/countPages.ts';
import { exportExamples } from '../../commands/exportExamples.ts';
import { guardedObjects } from '../../commands/uploads.ts';
import type { Uploads } from '../../commands/fetchUpload.ts';
import type { ApiDeps } from '../../http/apiDeps.ts';
import type { QueueWorker } from '../../worker/queue.ts';
import { trainingWorker } from '../../worker/training.ts';
import type { Context } from '../context.ts';
import { CONVERT_DEADLINE_MS } from '../workLimits.ts';

/** Documents of examples, from where clients uploaded them to. */
export const uploadedExamples = (uploads: Uploads): ExampleSource => ({
  fetch: async (tenant_id, document_id) => {
    const fetched = await uploads.fetch({ tenant_id, allTenants: false }, { document_id });
    return fetched.kind === 'problem' ? fetched : { kind: 'ok', file: fetched.file };
  },
});

type CreateParts = Pick<
  CreateTrainingDeps,
  'accounts' | 'store' | 'clock' | 'wrote' | 'objects' | 'billingConfig' | 'checkBase' | 'documents'
> &
  Pick<CountPagesDeps, 'parser' | 'pagesMax'> & {
    readonly parser: Parameters<typeof exportExamples>[0]['parser'];
  };

/** What the routes of training jobs, artifacts and deployments call. */
export const pipelineCommands = (
  work: CreateParts,
  api: Pick<ApiDeps, 'uploads' | 'countPages'>,
  secrets: SecretBox | undefined,
): PipelineCommands => {
  const { store, objects, clock, wrote } = work;
  const jobs = trainingJobs(store);
  const found = artifacts({ store, objects, jobs });
  const deps = { ...work, ...api, jobs, secrets };
  const source = uploadedExamples(api.uploads);
  return {
    createJob: createTrainingJob(deps),
    cancelJob: (name, meta) => cancelWork(deps, jobMoney(deps), { name, meta }),
    exportExamples: exportExamples({ ...deps, source, deadlineMs: CONVERT_DEADLINE_MS }),
    jobs,
    artifacts: found,
    deployments: deployments({ store, artifacts: found, clock, wrote }),
  };
};

/** The worker of training jobs, once there is something that learns. */
export const trainingWorkerOf = (
  from: Context,
  trainer: Trainer,
  secrets: SecretBox | undefined,
): QueueWorker => {
  const { log: store, objects: stored } = from.parts;
  const reads = from.reads;
  const logger = from.logger;
  const objects = guardedObjects(stored);
  const jobs = trainingJobs(store);
  return trainingWorker({
    ...{ store, objects, jobs, trainer, secrets },
    accounts: from.accounts,
    clock: from.clock,
    wrote: (tenantId, position) => reads.note(tenantId, position),
    artifacts: artifacts({ store, objects, jobs }),
    source: uploadedExamples(from.api.uploads),
    worker: `${hostname()}-${randomUUID().slice(0, 8)}`,
    tickMs: 5_000,
    lists: listsOn(jobLists, from.readSql),
    onError: unlessDiverged((err) => logger.error({ msg: 'training', err })),
  });
};
