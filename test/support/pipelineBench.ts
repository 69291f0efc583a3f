import { randomUUID } from 'node:crypto';
import { setExamplesOn } from '../../src/commands/evaluations.ts';
import { openObjectFolder } from '../../adapters/local/objectFolder.ts';
import { accountStream } from '../../domain/account/messages.ts';
import { DEFAULT_RATES, DEFAULT_TERMS } from '../../domain/billingConfig.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import type { Trainer } from '../../domain/ports/trainer.ts';
import { hasEnded, leaseMark } from '../../domain/leased.ts';
import type { TrainingJobState } from '../../domain/trainingJob.ts';
import { accountWriter, type AccountWriter } from '../../src/writer/accountWriter.ts';
import { documents } from '../../src/commands/uploads.ts';
import { artifacts } from '../../src/commands/deployments.ts';
import {
  type CreatedTrainingJob,
  createTrainingJob,
  type CreateTrainingRequest,
  trainingJobs,
} from '../../src/commands/training.ts';
import type { WorkProblem } from '../../src/commands/workProblem.ts';
import { trainingWorker } from '../../src/worker/training.ts';
import { adjustment } from './money/accountCommands.ts';
import { laterBy, START } from './delivery.ts';
import { eventsOf, LOGS } from './logs/eventLogs.ts';
import { meta } from './money/moneyCommands.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

export const TENANT = 't';
/** Base 2,000 + 2 × 20 + 60 × 10. */
export const PRICE = 2_640;

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };

/** A request for a job on two examples. */
export const jobAsked = (
  key: string | null,
  over: Partial<CreateTrainingRequest> = {},
): CreateTrainingRequest => ({
  tenant_id: TENANT,
  caller: { key_id: 'key_1', role: 'tenant' },
  correlation_id: 'req-1',
  identity: key === null ? null : { idempotency_key: key, fingerprint: `print of ${key}` },
  signal: new AbortController().signal,
  project_id: 'default',
  task_id: 'default',
  name: null,
  schema: SCHEMA,
  examples: {
    examples: [
      { document_id: 'doc_1', expected: { total: 1 } },
      { document_id: 'doc_2', expected: { total: 2 } },
    ],
  },
  optimizer_tier: 'light',
  max_metric_calls: null,
  validation_split: 0.2,
  mode: 'standard',
  billing_type: 'full_service',
  seed: 0,
  llm: { provider_model: null, api_key: null, api_base: null },
  ...over,
});

/** Learns nothing, always in the same way. */
export const plainTrainer: Trainer = {
  run: async ({ schema, examples, seed }, { onProgress, source }) => {
    for (const { document_id } of examples) {
      const fetched = await source.fetch(TENANT, document_id);
      if (fetched.kind === 'ok') await fetched.file.discard();
    }
    onProgress({ metric_calls: 60, max_metric_calls: 60 });
    const artifact = new TextEncoder().encode(JSON.stringify({ schema, examples: examples.length, seed }));
    const per_field = [{ path: '/total', baseline: 0.5, best: 0.9 }];
    return { kind: 'trained', artifact, baseline_score: 0.5, best_score: 0.9, per_field };
  },
};

/** A process that dies at its n-th write, before or after it took effect: the write never answers. */
export interface Dying {
  readonly at: number;
  readonly committed: boolean;
}

/** Counts the writes of a process and ends it at one of them. */
export const mortal = (log: EventStore, stored: ObjectStore, dying: Dying | null) => {
  let writes = 0;
  let died: () => void = () => undefined;
  const happened = new Promise<void>((resolve) => (died = resolve));
  const hang = <T>(): Promise<T> => {
    died();
    return new Promise<T>(() => undefined);
  };
  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    writes += 1;
    if (dying === null || writes < dying.at) return work();
    if (writes === dying.at && dying.committed) await work();
    return hang<T>();
  };
  const store: EventStore = { ...log, append: (...args) => write(() => log.append(...args)) };
  const objects: ObjectStore = { ...stored, put: (...args) => write(() => stored.put(...args)) };
  return { store, objects, happened, writes: () => writes };
};

/** One log and one folder of objects, and the processes that work on them. */
export const pipelineBench = async (
  options: { readonly balance?: number; readonly plan?: 'free' | 'paid' } = {},
) => {
  const folder = tempFolder();
  const log = await LOGS[1]!.open();
  const stored = await openObjectFolder(folder.path);
  const time = { now: START };
  const clock = {
    now: () => time.now,
    newId: (prefix: string) => `${prefix}_${randomUUID()}`,
    uuid: randomUUID,
    monotonicMs: () => Date.parse(time.now),
  };
  const writers: AccountWriter[] = [];
  const errors: unknown[] = [];
  const config = {
    version: 1,
    terms: DEFAULT_TERMS,
    rates: DEFAULT_RATES,
    note: null,
    created_at: START,
    created_by: 'key_1',
  };
  const writerOn = (store: EventStore) => {
    const writer = accountWriter({ store });
    writers.push(writer);
    return writer;
  };
  const accounts = writerOn(log.store);
  await accounts.execute(adjustment(TENANT, options.balance ?? 100_000, 'start'));
  const plan = { tenant_id: TENANT, plan: options.plan ?? 'paid', reason: null };
  await accounts.execute({ type: 'SetPlan', data: plan, meta: { ...meta, command_id: randomUUID() } });
  const asked: { readonly job_id: string; readonly tenant_id: string }[] = [];

  const process = (dying: Dying | null = null, trainer: Trainer = plainTrainer) => {
    const { store, objects, happened, writes } = mortal(log.store, stored, dying);
    const jobs = trainingJobs(store);
    const deps = {
      store,
      objects,
      clock,
      jobs,
      trainer,
      accounts: writerOn(store),
      billingConfig: () => Promise.resolve(config),
      wrote: () => undefined,
      secrets: undefined,
      checkBase: () => Promise.resolve({ kind: 'ok' } as const),
      artifacts: artifacts({ store, objects, jobs }),
      documents: documents(store),
    };
    const those = async (isIn: (state: TrainingJobState) => boolean) => {
      const all = [...asked];
      const states = await Promise.all(all.map(({ job_id }) => jobs.stateOf(job_id)));
      return all.flatMap((name, at) =>
        isIn(states[at]!) ? [{ ...name, mark: leaseMark(states[at]!), rank: name.job_id }] : [],
      );
    };
    const orphans = async (before: string) => {
      const { holds } = await writerOn(log.store).stateOf(TENANT, 0);
      return [...holds.values()]
        .filter(
          ({ created_at, operation_id }) =>
            created_at < before && !asked.some(({ job_id }) => job_id === operation_id),
        )
        .map(({ operation_id }) => ({ tenant_id: TENANT, job_id: operation_id }));
    };
    const worker = trainingWorker({
      ...deps,
      source: {
        fetch: () =>
          Promise.resolve({
            kind: 'ok',
            file: { path: '/dev/null', file_name: null, sha256: 'a', discard: () => Promise.resolve() },
          }),
      },
      worker: randomUUID(),
      tickMs: 5,
      lists: {
        waiting: () => those((state) => state.status === 'queued'),
        running: () => those((state) => state.status === 'running'),
        expired: () => those((state) => !hasEnded(state)),
        unsettled: () => those(hasEnded),
        orphans,
      },
      onError: (error) => errors.push(error),
    });
    const create = createTrainingJob({
      ...deps,
      uploads: { fetch: () => Promise.reject(new Error('there is no dataset here')) },
      setExamples: setExamplesOn(deps),
      countPages: ({ documents }) =>
        Promise.resolve(
          documents.map(({ document_id = null }) => ({
            document_id,
            file_uri: 'quire://uploads/x',
            status: 'ok' as const,
            pages: 1,
            mime_type: 'text/plain',
          })),
        ),
    });
    const creating = async (request: CreateTrainingRequest): Promise<CreatedTrainingJob | WorkProblem> => {
      const made = await create(request);
      const { tenant_id } = request;
      if (made.kind === 'created' && !asked.some(({ job_id }) => job_id === made.job_id))
        asked.push({ job_id: made.job_id, tenant_id });
      return made;
    };
    return { ...deps, worker, create: creating, happened, writes };
  };

  return {
    store: log.store,
    time,
    errors,
    process,
    pass: (minutes: number) => (time.now = laterBy(time.now, minutes / 60)),
    account: async () => {
      const { balance, held, holds } = await writerOn(log.store).stateOf(TENANT, 0);
      return { balance, held, open_holds: holds.size };
    },
    burns: async () =>
      (await eventsOf(log.store, accountStream(TENANT)))
        .filter(({ type }) => type === 'CreditsBurned')
        .map(({ data }) => data),
    typesIn: async (stream: string) => (await eventsOf(log.store, stream)).map(({ type }) => type),
    dispose: async () => {
      await Promise.all(writers.map((writer) => Promise.race([writer.close(), Promise.resolve()])));
      await log.dispose();
      folder.remove();
    },
  };
};

export type PipelineBench = Awaited<ReturnType<typeof pipelineBench>>;
