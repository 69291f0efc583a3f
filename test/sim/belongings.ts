import type { BatchEventOf } from '../../domain/batch.ts';
import { runIdOfBatch } from '../../domain/evaluation.ts';
import { byType } from './readModel.ts';
import type { ProjectedEvent } from '../../projections/engine/ports.ts';
import { forgetInEvaluations } from '../../src/commands/evaluationObjects.ts';
import { publishSet, removeSet } from '../../src/commands/evaluations.ts';
import { deployments } from '../../src/commands/deployments.ts';
import type { EraseTenantDeps } from '../../src/commands/eraseTenant.ts';
import { removeTable } from '../../src/commands/masterTables.ts';
import { savedConfigs } from '../../src/commands/savedConfigs.ts';
import { webhookCommands } from '../../src/commands/webhooks.ts';
import type { WorkProblem } from '../../src/commands/workProblem.ts';
import { metaOf } from '../../src/writer/commandMeta.ts';
import type { Answer, Asked, ProcessEnv } from './env.ts';

const CALLER = { key_id: 'key_1', role: 'tenant' } as const;

type Position = bigint;

/** A thing of a tenant that an event of its own takes away. */
interface Belonging {
  readonly kind: 'key' | 'webhook' | 'job' | 'config' | 'deployment' | 'set';
  readonly id: string;
  readonly tenant_id: string;
  readonly position: Position;
}

/** Something that may have left objects behind, whatever has become of it since. */
interface Trace {
  readonly id: string;
  readonly tenant_id: string;
  readonly position: Position;
}

interface LearningJob extends Trace {
  readonly documents: readonly string[];
  endedAt: string | null;
}

interface Learned extends Trace {
  readonly job_id: string;
}

const emptyBelongings = () => ({
  /** By kind and ID; a deployment by the ID of its activation. */
  held: new Map<string, Belonging>(),
  jobs: new Map<string, LearningJob>(),
  artifacts: [] as Learned[],
  runs: [] as Trace[],
  /** By document: the sets and runs that have something of it. */
  keeping: new Map<string, Map<string, string>>(),
});

const named = (
  { keeping }: ReturnType<typeof emptyBelongings>,
  documents: readonly string[],
  { id, tenant_id }: Pick<Trace, 'id' | 'tenant_id'>,
): void => {
  for (const document of documents)
    keeping.set(document, (keeping.get(document) ?? new Map<string, string>()).set(id, tenant_id));
};

const runOf = (data: BatchEventOf<'BatchAccepted'>['data'], position: Position): Trace | undefined =>
  data.evaluated && { id: runIdOfBatch(data.batch_id), tenant_id: data.tenant_id, position };

/** All that tenants have by then, as the read models of keys, webhooks, jobs, configs, deployments and sets say. */
export const belongingsIn = (events: readonly ProjectedEvent[]) => {
  const rows = emptyBelongings();
  const has = (one: Belonging, key = one.id): void => void rows.held.set(`${one.kind} ${key}`, one);
  const lacks = (kind: Belonging['kind'], key: string): void => void rows.held.delete(`${kind} ${key}`);
  const ended = (id: string, at: string): void => {
    const job = rows.jobs.get(id);
    if (job !== undefined) job.endedAt = at;
    lacks('job', id);
  };
  const handle = byType({
    ApiKeyIssued: ({ data: { key_id: id, tenant_id, role }, position }) => {
      if (role === 'tenant') has({ kind: 'key', id, tenant_id, position });
    },
    ApiKeyRevoked: ({ data }) => lacks('key', data.key_id),
    WebhookCreated: ({ data: { webhook_id: id, tenant_id }, position }) =>
      has({ kind: 'webhook', id, tenant_id, position }),
    WebhookRemoved: ({ data }) => lacks('webhook', data.webhook_id),
    ConfigPublished: ({ data: { config_id: id, tenant_id }, position }) =>
      has({ kind: 'config', id, tenant_id, position }),
    ConfigRevoked: ({ data }) => lacks('config', data.config_id),
    DeploymentActivated: ({ data, position }) => {
      const { tenant_id, project_id, task_id, environment } = data;
      const id = JSON.stringify([project_id, task_id, environment]);
      has({ kind: 'deployment', id, tenant_id, position }, data.deployment_id);
    },
    DeploymentRetired: ({ data }) => lacks('deployment', data.deployment_id),
    EvaluationSetPublished: ({ data: { set_id: id, tenant_id, examples }, position }) => {
      has({ kind: 'set', id, tenant_id, position });
      named(
        rows,
        examples.map(({ document_id }) => document_id),
        { id, tenant_id },
      );
    },
    EvaluationSetReduced: ({ data: { set_id: id, tenant_id }, position }) =>
      has({ kind: 'set', id, tenant_id, position }),
    EvaluationSetRemoved: ({ data }) => {
      lacks('set', data.set_id);
      for (const ids of rows.keeping.values()) ids.delete(data.set_id);
    },
    BatchAccepted: ({ data, position }) => {
      const run = runOf(data, position);
      if (run === undefined) return;
      rows.runs.push(run);
      named(rows, data.document_ids, run);
    },
    TrainingJobCreated: ({ data: { job_id: id, tenant_id, document_ids = [] }, position }) => {
      rows.jobs.set(id, { id, tenant_id, position, documents: document_ids, endedAt: null });
      has({ kind: 'job', id, tenant_id, position });
    },
    TrainingJobSucceeded: ({ data }) => ended(data.job_id, data.succeeded_at),
    TrainingJobFailed: ({ data }) => ended(data.job_id, data.failed_at),
    TrainingJobCancelled: ({ data }) => ended(data.job_id, data.cancelled_at),
    ArtifactPublished: ({ data: { sha256: id, tenant_id, job_id }, position }) =>
      void rows.artifacts.push({ id, tenant_id, job_id, position }),
  });
  for (const event of events) handle(event);
  return rows;
};

type UpTo = Pick<Trace, 'tenant_id' | 'position'>;

interface Held {
  readonly kind: string;
  readonly id: string;
}

const isBefore =
  (upTo: UpTo) =>
  (one: UpTo): boolean =>
    one.tenant_id === upTo.tenant_id && one.position <= upTo.position;

/** In the order in which they go. */
const RANKS = [
  'key',
  'webhook',
  'batch',
  'operation',
  'job',
  'config',
  'deployment',
  'set',
  'table',
  'document',
];

/** What read models say of tenants' things, once they have some events. */
export const belongingAnswers = (events: readonly ProjectedEvent[]) => {
  const rows = belongingsIn(events);
  const jobs = [...rows.jobs.values()];
  const learningOf = (document_id: string) => jobs.filter(({ documents }) => documents.includes(document_id));
  const erased = new Set(
    events.flatMap((event) => (event.type === 'DocumentErased' ? [event.data.document_id] : [])),
  );
  return {
    heldBy: (upTo: UpTo) =>
      [...rows.held.values()].filter(isBefore(upTo)).map(({ kind, id }): Held => ({ kind, id })),
    /** Of an erased tenant, what objects may be of. */
    learnedBy: (upTo: UpTo) => {
      const isTheirs = isBefore(upTo);
      const ids = jobs.filter(isTheirs).map(({ id }) => id);
      const artifacts = rows.artifacts.filter((one) => isTheirs(one) || ids.includes(one.job_id));
      return {
        jobs: ids,
        artifacts: artifacts.map(({ id }) => id),
        runs: rows.runs.filter(isTheirs).map(({ id }) => id),
      };
    },
    keeping: (documentId: string) =>
      [...(rows.keeping.get(documentId) ?? [])].map(([id, tenant_id]) => ({ id, tenant_id })),
    learningFrom: (
      { document_id, tenant_id }: { readonly document_id: string; readonly tenant_id: string },
      { open }: { readonly open: boolean },
    ) =>
      learningOf(document_id)
        .filter((job) => job.tenant_id === tenant_id && (!open || job.endedAt === null))
        .map(({ id: job_id }) => ({ document_id, job_id, tenant_id })),
    /** Those of the documents that somebody learns from, or has learned from since, and those in sets. */
    learnedOf: (documents: readonly { readonly document_id: string }[], since: string) => {
      const inSet = (id: string) =>
        [...(rows.keeping.get(id)?.keys() ?? [])].some((one) => one.startsWith('set_'));
      const isLearned = (id: string) => learningOf(id).some(({ endedAt }) => (endedAt ?? since) >= since);
      const ids = documents.map(({ document_id }) => document_id);
      return new Set(ids.filter((id) => isLearned(id) || inSet(id)));
    },
    erasedOfJobs: (jobIds: readonly string[]) =>
      jobs
        .filter(({ id }) => jobIds.includes(id))
        .flatMap(({ id: job_id, tenant_id, documents }) =>
          documents
            .filter((document_id) => erased.has(document_id))
            .map((document_id) => ({ job_id, tenant_id, document_id })),
        ),
  };
};
type Answers = ReturnType<typeof belongingAnswers>;

/** The same questions, asked of read models that may be late. */
export const belongingLists = ({ askLog, ask }: ProcessEnv) => {
  const asked = <T>(question: string, of: (answers: Answers) => T): Promise<T> =>
    askLog(question, (events) => of(belongingAnswers(events)));
  return {
    heldBy: async (upTo: UpTo) => {
      const work: readonly Held[] = await ask('held', (one) => one.documents.heldBy(upTo));
      const own = await asked('held', (answers) => answers.heldBy(upTo));
      return [...work, ...own].sort((a, b) => RANKS.indexOf(a.kind) - RANKS.indexOf(b.kind));
    },
    learnedBy: (upTo: UpTo) => asked('learned', (answers) => answers.learnedBy(upTo)),
    keeping: (documentId: string) => asked('keeping', (answers) => answers.keeping(documentId)),
    learningFrom: (...[document, which]: Parameters<Answers['learningFrom']>) =>
      asked('learning', (answers) => answers.learningFrom(document, which)),
    learnedOf: (...[documents, since]: Parameters<Answers['learnedOf']>) =>
      asked('learned of', (answers) => answers.learnedOf(documents, since)),
    erasedOfJobs: (jobIds: readonly string[]) =>
      asked('erased of jobs', (answers) => answers.erasedOfJobs(jobIds)),
  };
};

export interface AskedSet extends Asked {
  /** Of a set that is there; undefined: a new one. */
  readonly id?: string | undefined;
  /** What its document is expected to say. */
  readonly total: number;
}

export interface AskedConfig extends Asked {
  /** Of a config that is there; undefined: a new one. */
  readonly id?: string | undefined;
  /** The caller's own provider key, which it keeps. */
  readonly apiKey: string;
}

const problem = ({ code }: Pick<WorkProblem, 'code'>): Answer => ({ kind: 'problem', code });
const failed = (outcome: {
  readonly kind: string;
  readonly rejection?: { readonly code: string };
}): Answer => ({
  kind: 'problem',
  code: outcome.rejection?.code ?? 'busy',
});

interface OwningDeps extends Omit<Parameters<typeof publishSet>[0], 'examples' | 'decided'> {
  readonly box: ProcessEnv['secrets'];
  readonly artifacts: Parameters<typeof deployments>[0]['artifacts'];
  readonly jobs: {
    readonly stateOf: (id: string) => Promise<{ readonly success: { readonly artifact_id: string } | null }>;
  };
  readonly once: (asked: Asked, run: () => Promise<Answer>) => Promise<Answer>;
}

/** Where a tenant's only deployment serves. */
const SCOPE = { project_id: 'p', task_id: 'd', environment: 'live' };

/** Sets of examples, saved configs and deployments, as their routes call for them. */
export const owningRequests = (env: ProcessEnv, deps: OwningDeps) => {
  const publish = publishSet({
    ...deps,
    decided: () => Promise.resolve({ examples: [], left_out: 0 }),
    examples: (_, reference) =>
      Promise.resolve(
        'examples' in reference
          ? reference.examples.map(({ document_id = '', expected }) => ({ document_id, expected }))
          : [],
      ),
  });
  const [remove, configs, serving] = [removeSet(deps), savedConfigs(deps), deployments(deps)];
  const draftOf = ({ tenant, id, apiKey }: AskedConfig) => ({
    update: id !== undefined,
    config_id: id ?? env.clock.newId('cfg').replace('_', '-'),
    tenant_id: tenant,
    name: 'kept',
    schema: null,
    mode: null,
    artifact_id: null,
    min_confidence: null,
    models_for: null,
    require_grounding: null,
    review: null,
    ocr: undefined,
    llm: { provider_model: 'openai/gpt', api_key: apiKey },
  });
  const configPublished = async (asked: AskedConfig): Promise<Answer> => {
    const outcome = await configs.publish(draftOf(asked), metaOf(env, CALLER, asked.correlation));
    if (outcome.kind === 'problem') return problem(outcome);
    if (outcome.kind !== 'done') return failed(outcome);
    return { kind: 'ok', id: outcome.state.latest?.config_id ?? '', body: outcome.state.latest?.version };
  };
  return {
    keepSet: async ({ tenant, key, print, correlation, signal, id, total }: AskedSet): Promise<Answer> => {
      const examples = { examples: [{ document_id: `doc_of-${key}`, expected: { total } }] };
      const identity = id === undefined ? { idempotency_key: `set ${key}`, fingerprint: print } : null;
      const names = { set_name: undefined, project_id: undefined, task_id: undefined };
      const wanted = { ...names, tenant_id: tenant, set_id: id ?? null, examples, identity };
      const asked = { ...wanted, caller: CALLER, correlation_id: correlation, signal };
      const answer = await publish(asked, metaOf(env, CALLER, correlation));
      if (answer.kind === 'problem') return problem(answer);
      return { kind: 'ok', id: answer.version.set_id, body: answer.version.version };
    },
    removeSet: async (tenant: string, id: string): Promise<Answer> => {
      const refused = await remove(id, tenant, metaOf(env, CALLER, `remove ${id}`));
      return refused === undefined ? { kind: 'ok', id, body: null } : problem(refused);
    },
    keepConfig: (asked: AskedConfig): Promise<Answer> =>
      asked.id === undefined ? deps.once(asked, () => configPublished(asked)) : configPublished(asked),
    removeConfig: async (_: string, id: string): Promise<Answer> => {
      const outcome = await configs.revoke(id, metaOf(env, CALLER, `revoke ${id}`));
      return outcome.kind === 'done' ? { kind: 'ok', id, body: null } : failed(outcome);
    },
    /** Has what a job learned serve, once there is something. */
    deploy: async (tenant: string, job_id: string): Promise<Answer> => {
      const { success } = await deps.jobs.stateOf(job_id);
      if (success === null) return problem({ code: 'not_ready' });
      const rollout = { strategy: 'all_at_once', percent: 100 } as const;
      const wanted = { artifact_id: success.artifact_id, artifact_uri: undefined, rollout };
      const scope = { tenant_id: tenant, ...SCOPE };
      const answer = await serving.activate({ scope, ...wanted }, metaOf(env, CALLER, `deploy ${job_id}`));
      return answer.kind === 'problem' ? problem(answer) : { kind: 'ok', id: job_id, body: null };
    },
  };
};

/** Takes away what a tenant has, each thing as its own route does. */
export const owningRemovals = (
  env: ProcessEnv,
  deps: OwningDeps & {
    readonly webhooks: Parameters<typeof webhookCommands>[0];
    readonly requests: {
      readonly revokeKey: (id: string) => Promise<Answer>;
      readonly cancelJob: (tenant: string, id: string) => Promise<Answer>;
    };
  },
): Pick<EraseTenantDeps['remove'], 'key' | 'webhook' | 'job' | 'set' | 'table' | 'config' | 'deployment'> => {
  const isOk = ({ kind }: Answer): boolean => kind === 'ok';
  const [hooks, serving, own] = [
    webhookCommands(deps.webhooks),
    deployments(deps),
    owningRequests(env, deps),
  ];
  return {
    key: async (_, id) => isOk(await deps.requests.revokeKey(id)),
    webhook: async (tenant_id, webhook_id, meta) =>
      (await hooks.remove({ tenant_id, webhook_id }, meta)).kind === 'done',
    job: async (tenant, id) => isOk(await deps.requests.cancelJob(tenant, id)),
    set: async (tenant, id) => isOk(await own.removeSet(tenant, id)),
    table: async (tenant, id, meta) => (await removeTable(deps)(id, tenant, meta)) === undefined,
    config: async (tenant, id) => isOk(await own.removeConfig(tenant, id)),
    deployment: (tenant_id, scope, meta) => {
      const [project_id = '', task_id = '', environment = ''] = JSON.parse(scope) as readonly string[];
      return serving.retire({ tenant_id, project_id, task_id, environment }, meta);
    },
  };
};

/** What sets of examples and their runs keep of a document goes with it. */
export const forgettingIn = (env: ProcessEnv, { store, objects, clock, wrote }: OwningDeps) =>
  forgetInEvaluations({ store, objects, clock, wrote, keeping: belongingLists(env).keeping });
