/* eslint-disable max-lines -- all that names today's wiring is in one place, so that another wiring changes one file */
import type { DisputeStatus } from '../../domain/account/messages.ts';
import { heavySlots, takenRoom } from '../../src/commands/slots.ts';
import { lookedUp } from '../../src/rules/lookups.ts';
import { lookupsHere } from '../../src/rules/lookupWork.ts';
import { rulesHere } from '../../src/rules/rulesWork.ts';
import type { ModelCall } from '@quire/engine/ports/modelWork';
import type { Json, JsonObject } from '../../domain/kernel/json.ts';
import { modelWork } from '@quire/engine/models/byModel/workByModel';
import { asCredits } from '../../domain/kernel/amounts.ts';
import type { OperationState } from '../../domain/operation.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import type { Sql, SqlRow } from '../../projections/engine/ports.ts';
import { retentionCommands } from '../../src/commands/apiKeys.ts';
import { logWatch } from '../../projections/engine/divergence.ts';
import { acceptBatch, acceptParts, batches, cancelBatch } from '../../src/commands/batches.ts';
import {
  acceptOperation,
  operationMoney,
  type OperationName,
  operations,
} from '../../src/commands/operations.ts';
import { type KnownReview, reviewCommands } from '../../src/commands/reviews.ts';
import { workHere } from '../../src/commands/reviewWork.ts';
import { reviewIdOf } from '../../domain/review.ts';
import { recordingOn, storedResultOf } from '../support/recording.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { payments } from '../../src/commands/money/payments.ts';
import { activeConfig, referenceData } from '../../src/commands/reference.ts';
import { claimantOf } from '../../src/commands/money/paymentClaims.ts';
import { recordDispute, refundCredits, reverseRefund, sellCredits } from '../../src/commands/sales.ts';
import { transferCredits } from '../../src/commands/money/transfers.ts';
import { objectSweeper } from '../../src/worker/sweeping.ts';
import { workFates } from '../../src/worker/workFates.ts';
import { holdSweeper } from '../../src/commands/holds.ts';
import { artifacts } from '../../src/commands/deployments.ts';
import { aesSecretBox } from '../../adapters/local/local.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import { sweepTexts } from '../../src/worker/textSweeping.ts';
import { textVault } from '../../src/writer/vault.ts';
import { acceptRun, publishSet, setExamplesOn } from '../../src/commands/evaluations.ts';
import { batchIdOfRun } from '../../domain/evaluation.ts';
import { scoredAnswer } from '@quire/engine/learning/scoring/feedback';
import { evaluationWorker } from '../../src/worker/evaluations.ts';
import { eraseDocument, forgetExamples, forgetReview } from '../../src/commands/erasing.ts';
import { eraseTenant, type EraseTenantDeps, sweepErasures } from '../../src/commands/eraseTenant.ts';
import { createTrainingJob, exampleStreams, jobMoney, trainingJobs } from '../../src/commands/training.ts';
import { abandonWork, cancelWork } from '../../src/commands/queue.ts';
import { unfinishedSweeper } from '../../src/commands/usageLog.ts';
import { documents, guardedObjects } from '../../src/commands/uploads.ts';
import { type Uploads, withFetched } from '../../src/commands/fetchUpload.ts';
import {
  deliveryStreams,
  pruneDeliveries,
  webhookCommands,
  webhookStreams,
} from '../../src/commands/webhooks.ts';
import type { ConvertDeps } from '../../src/commands/convert.ts';
import { extractDocument, type ExtractDeps, type ExtractRequest } from '../../src/commands/extract.ts';
import { type SortDeps, sortDocument } from '../../src/commands/sortDocument.ts';
import type { WorkProblem } from '../../src/commands/workProblem.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { metaOf } from '../../src/writer/commandMeta.ts';
import { runOnce } from '../../src/server/idempotency.ts';
import { batchWorker } from '../../src/worker/batches.ts';
import { beginTask, operationWorker } from '../../src/worker/operations.ts';
import type { QueueLists } from '../../src/worker/queue.ts';
import { trainingWorker } from '../../src/worker/training.ts';
import { webhookSender } from '../../src/worker/webhooks.ts';
import { asked } from '../support/delivery.ts';
import { jobAsked } from '../support/pipelineBench.ts';
import type { Mode } from './terms.ts';
import type { Lists } from './lists.ts';
import { type Answer, type Asked, type ProcessEnv, tagsWith } from './env.ts';
import { callsOn } from './calls/calls.ts';
import { belongingLists, forgettingIn, owningRemovals, owningRequests } from './belongings.ts';
import { keyRequests } from './keys.ts';
import { LONG_PAGES, PDF, rangesOn } from './long/readRanges.ts';
import { pagesRead, readingIn, sorterOn, splitsOn } from './batches/sortStack.ts';
import { RUSH } from './limits.ts';
import { monthRequests } from './market.ts';
import { uploadParts, uploadRequests } from './uploads.ts';

export type { Answer, FileFacts } from './env.ts';

/** Whose work it is where nothing else is said; the caller has this key. */
export const TENANT = 't';
const CALLER = { key_id: 'key_1', role: 'tenant' } as const;

interface RetentionWanted {
  readonly whose: string;
  readonly days: number;
}

export interface AskedWork extends Asked {
  readonly path: string;
  readonly ownKey: boolean;
  readonly doubtful: boolean;
  readonly mode: Mode;
  /** It is split, and its parts go on. */
  readonly isStack: boolean;
  /** A person has to look at the result. */
  readonly reviewed: boolean;
  /** Its file was sent before, as this document. */
  readonly document?: string | undefined;
  /** The name of the API key that it comes with; undefined: of one that holds for ever. */
  readonly apiKey?: string | undefined;
  /** Its caller gives it no Idempotency-Key. */
  readonly keyless: boolean;
}

/** Work that a process does by itself, again and again. */
export interface Loop {
  readonly name: string;
  readonly everyMs: number;
  /** True: the next round does not wait for the one before. */
  readonly overlaps: boolean;
  readonly run: () => Promise<unknown>;
}

const OWN_KEY = { provider_model: 'openai/gpt', api_key: 'sk' };
const DAY_MS = 24 * 3_600_000;
const LOCAL = { name: 'local/default', access: null };

const problem = ({ code }: Pick<WorkProblem, 'code'>): Answer => ({ kind: 'problem', code });

const none = () => Promise.reject(new Error('this does not take part'));

/** Of one call and no other: by it a call is known again that is logged twice. */
const usageOfCall = () => ({
  input_tokens: 1 + Math.floor(Math.random() * 1e12),
  output_tokens: 1,
  cached_input_tokens: 0,
  pages: null,
});
/** Of the document that models are asked about. */
export const PARTS = 3;
const PART = 'A part of what the document says. ';

/** The real work with models, on a document of three parts, and a provider that answers each with a name of its own. */
const modelsOn = ({ fileAt, work, clock, die }: ProcessEnv) =>
  modelWork({
    providers: {
      abilitiesOf: () => ({ pdf: false, images: false, documentTokens: PART.length }),
      ask: async () => {
        await work('ask');
        return {
          kind: 'answered',
          text: JSON.stringify({ runs: [clock.uuid()] }),
          usage: usageOfCall(),
          finish: 'stop',
        };
      },
      readPages: none,
    },
    parser: {
      read: async ({ path }) => {
        const { ends } = fileAt(path);
        await work('read');
        if (ends === 'deadly') await die();
        if (ends === 'badly') return { kind: 'unreadable', detail: 'it is broken' };
        const markdown = Array.from({ length: PARTS }, () => PART.repeat(2)).join('\n\n');
        const plain = { pages: [], warnings: [], hasText: true, packed: new Uint8Array() };
        return { kind: 'ok', document: { mimeType: 'text/plain', markdown, ...plain } };
      },
      render: none,
    },
    tools: {
      pictures: none,
      documentOf: none,
      render: none,
      extractFrom: none,
      score: none,
      joined: none,
      layoutText: none,
      tableFile: none,
      rankPages: none,
      ground: ({ answer }) => {
        const value = JSON.parse(answer) as JsonObject;
        const plain = { validationErrors: [], citations: [], ungrounded: [], warnings: [] };
        return Promise.resolve({ kind: 'ok', value, ...plain });
      },
    },
    schemas: { check: () => Promise.resolve({ kind: 'ok' }) },
    ranged: { read: none },
    localDeadlinesMs: { fast: MODELS_MS, standard: MODELS_MS, robust: MODELS_MS },
    readFile: none,
  });

/** Longer than any run: the deadlines of models are not what is looked at. */
const MODELS_MS = 10 * DAY_MS;

/** The longest that work may take as its hold has it, ms. */
const WORK_MS = 10 * 60_000;

/** Work on documents: what comes out names the file and the run, so that one result can be told from another. */
const workOn = (env: ProcessEnv) => {
  const { fileAt, work, clock, die } = env;
  const [models, sorting] = [modelsOn(env), sorterOn(env)];
  const extracted = async (path: string, from?: string) => {
    const file = fileAt(path);
    const { tag, ends } = file;
    const pages = pagesRead(file, from);
    await work('extract');
    if (ends === 'deadly') await die();
    if (ends === 'badly') return { kind: 'unreadable', detail: 'it is broken' } as const;
    const value = { tag, pages, run: clock.uuid(), ...(from !== undefined && { from }) };
    const plain = { validationErrors: [], citations: [], pages: [], warnings: [] };
    return { kind: 'ok', extraction: { mimeType: 'text/plain', value, ...plain } } as const;
  };
  const parser: ExtractDeps['parser'] = {
    inspect: async ({ path, pagesMax, pages: chosen }) => {
      const file = fileAt(path);
      const pages = pagesRead(file, chosen);
      await work('inspect');
      if (pages > pagesMax) return { kind: 'too_many_pages', pages, pagesMax, detail: 'too many' };
      return { kind: 'ok', mimeType: pages > LONG_PAGES ? PDF : 'text/plain', pages, total: file.pages };
    },
    parse: none,
    read: sorting.read,
    render: none,
    close: () => Promise.resolve(),
  };
  return {
    parser,
    sorter: sorting.sorter,
    tools: sorting.tools,
    engine: {
      name: 'local/default',
      extract: ({ path, pages }) => extracted(path, pages),
    } satisfies ExtractDeps['engine'],
    ranged: rangesOn(env),
    modelWork: {
      // Nothing is ever doubtful, and every third key is never used.
      extract: async (request, asked, keeping) => {
        if (request.settings.models_for === 'doubtful' || Math.random() < 0.33)
          return extracted(request.path, request.pages);
        const calls: string[] = [];
        const onCall = (call: ModelCall): void => {
          if (call.id !== undefined) calls.push(call.id);
          asked.onCall(call);
        };
        const done = await models.extract(request, { ...asked, onCall }, keeping);
        if (done.kind !== 'ok') return done;
        const { pages, tag } = fileAt(request.path);
        const value = { tag, pages, run: clock.uuid(), calls };
        return { kind: 'ok', extraction: { ...done.extraction, value } };
      },
      convert: none,
    } satisfies ExtractDeps['modelWork'],
  };
};

/** Documents that were asked for before they were sent; those of batches have other names. */
const PRESIGNED = /^doc_[0-9A-Z]{26}$/;

/** What the commands of one process stand on. */
const depsOf = (env: ProcessEnv) => {
  const { clock } = env;
  const objects = guardedObjects(env.objects);
  const nowMs = () => Date.parse(clock.now());
  const random = (bytes: number) => Buffer.from(sha256(clock.uuid()), 'hex').subarray(0, bytes);
  const vault = textVault({ objects, box: undefined, boxOf: aesSecretBox, nowMs, random });
  const store = { ...env.log, vault };
  const { snapshots } = env;
  const accounts = accountWriter({ store, ...(snapshots && { snapshots, snapshotEveryEvents: 3 }) });
  const reference = referenceData({ store });
  const recording = recordingOn({ store, objects, clock });
  const deps: ExtractDeps & ConvertDeps & SortDeps = {
    accounts,
    store,
    objects,
    clock,
    ...recording,
    ...workOn(env),
    rules: rulesHere,
    lookUp: lookedUp({ worker: lookupsHere, objects: env.objects }),
    billingConfig: async (version) => {
      if (version === undefined) return activeConfig(reference);
      const config = (await reference.billingConfig()).versions[version - 1];
      if (config === undefined) throw new Error('there is no such billing config yet');
      return config;
    },
    slots: heavySlots(100),
    pagesMax: LONG_PAGES,
    longPagesMax: 2_000,
    inspectDeadlineMs: 1_000,
    convertDeadlineMs: 1_000,
    localDeadlinesMs: { fast: 1_000, standard: 1_000, robust: 1_000 },
    deadlineMs: { fast: WORK_MS, standard: WORK_MS, robust: WORK_MS },
    platformModels: { extraction: LOCAL, ocr: LOCAL },
    checkBase: () => Promise.resolve({ kind: 'ok' }),
    wrote: () => undefined,
  };
  const uploading = uploadParts(env, { store, objects });
  const uploads: Uploads = {
    fetch: async (tenant_id, { document_id = '' }) => {
      if (PRESIGNED.test(document_id)) return uploading.fetched.fetch(tenant_id, { document_id });
      await env.work(`fetch ${document_id}`);
      const path = `upload ${document_id}`;
      const file = {
        path,
        sha256: digestAt(env, path),
        bytes: 1,
        file_name: null,
        discard: () => Promise.resolve(),
      };
      const document = { document_id, tenant_id, project_id: 'p', task_id: 'd', file_name: null };
      return { kind: 'ok', file, document: { ...document, kind: 'document' } as never };
    },
  };
  const own = { accounts, operations: operations(store), jobs: trainingJobs(store), batches: batches(store) };
  const { facts } = recording;
  const vaulted = { secrets: env.secrets, forgetTexts: vault.forget };
  return { ...deps, ...own, reference, facts, uploads, uploading, ...vaulted };
};
type Deps = ReturnType<typeof depsOf>;

/** What sets, saved configs and deployments stand on. */
const owningOf = (
  env: ProcessEnv,
  { store, objects, clock, wrote, jobs }: Deps,
): Parameters<typeof owningRequests>[1] => ({
  store,
  objects,
  clock,
  wrote,
  jobs,
  box: env.secrets,
  artifacts: artifacts({ store, objects, jobs }),
  once: (asked, run) => once(idempotencyOf(env, 'kept', asked), run),
});

/** Examples of training jobs, where documents that they were made of are erased. */
const examplesOf = ({ store, objects, clock, jobs }: Deps) => ({
  objects,
  clock,
  jobs,
  examples: exampleStreams(store),
});

const digestAt = ({ fileAt, digestOf }: ProcessEnv, path: string): string => digestOf(fileAt(path));

const workOf = (
  env: ProcessEnv,
  { tenant, correlation, key, print, path, ownKey, doubtful, reviewed, mode, signal, keyless }: AskedWork,
): ExtractRequest =>
  asked(1, {
    tenant_id: tenant,
    correlation_id: correlation,
    mode,
    idempotency: keyless ? null : { idempotency_key: key, fingerprint: print },
    signal,
    file: { path, sha256: digestAt(env, path), bytes: 1, file_name: env.fileAt(path).tag },
    tags: tagsWith(print),
    ...(ownKey && { llm: OWN_KEY }),
    ...(doubtful && { settings: { citations: true, models_for: 'doubtful' } }),
    ...(reviewed && { review: { sample: 1 } }),
  });

const idempotencyOf = (env: ProcessEnv, endpoint: string, { tenant, key, print }: Asked) => ({
  store: env.replays,
  scope: { tenant_id: tenant, endpoint, idempotency_key: key },
  fingerprint: print,
  keepMs: DAY_MS,
  onStoreError: env.onError,
});

/** As the middleware of a route does: at most once by key, and what was answered is kept. */
const once = async (
  replayable: Parameters<typeof runOnce>[0],
  run: () => Promise<Answer>,
): Promise<Answer> => {
  const sent = await runOnce(replayable, async () => {
    const answer = await run();
    return { status: answer.kind === 'ok' ? 200 : 422, body: JSON.stringify(answer), replayed: false };
  });
  const answer = JSON.parse(sent.body) as Answer;
  return { ...answer, replayed: sent.replayed };
};

const NO_FILE = { path: '', sha256: '', bytes: 0, file_name: null };

/** Does work on the file that came with a request, or that was sent before; a key may name work on one that is gone. */
const onDocument = async <T>(
  { uploads }: Pick<Deps, 'uploads'>,
  { tenant: tenant_id, document: document_id }: Pick<AskedWork, 'tenant' | 'document'>,
  work: (file: Partial<ExtractRequest>) => Promise<T>,
): Promise<T> => {
  if (document_id === undefined) return work({});
  const named = { tenant_id, document_id, source: 'upload', project_id: 'p', task_id: 'd' } as const;
  const done = await withFetched(uploads, named, async (subject) => ({ answer: await work(subject) }));
  return 'answer' in done ? done.answer : work({ file: NO_FILE, gone: done });
};

/** The places of a process for calls, where its world says that they are few. */
const placesOf = ({ places }: ProcessEnv): Pick<ExtractDeps, 'slots' | 'handsOver'> =>
  places === undefined ? { slots: heavySlots(100) } : { slots: heavySlots(places), handsOver: true };

const operationRequests = (env: ProcessEnv, deps: Deps) => {
  const openOf = (tenant: string, ids: readonly string[]) =>
    env.ask('open operations', ({ accounts }) => accounts.openOperationsOf(tenant, ids));
  const begin = extractDocument({ ...deps, ...placesOf(env) });
  const accept = acceptOperation({ ...deps, openOf, quotaBytes: 1_000_000, room: takenRoom() });
  const money = operationMoney(deps);
  const cancel = (name: OperationName, meta: CommandMeta) => cancelWork(deps, money, { name, meta });
  const abandon = (name: OperationName) => abandonWork(deps, money, name);
  const { kept } = retentionCommands(deps.store, env.keeps);
  const calls = callsOn(env, {
    accept,
    cancel,
    abandon,
    begin,
    streams: deps.operations,
    objects: deps.objects,
    reviews: reviewsOf(env, deps),
    resultDays: async (tenant) => (await kept()).of(tenant).results,
  });
  return {
    accept,
    cancel,
    abandon,
    requests: {
      /** Work to be done later. */
      later: async (wanted: AskedWork, caller?: ExtractRequest['caller']): Promise<Answer> => {
        const asked_ = { ...workOf(env, wanted), ...(caller && { caller }) };
        const splits = splitsOn(deps, begin, wanted);
        const answer = await onDocument(deps, wanted, (file) => {
          const request = { ...asked_, ...file };
          return wanted.isStack
            ? accept(request, 'split', (work) => splits({ ...request, ...work }))
            : accept(request, 'extract', (work) => begin({ ...request, ...work }));
        });
        if (answer.kind === 'problem') return problem(answer);
        // No caller waits under a key of this kind.
        if (answer.kind === 'waited_for') return problem({ code: 'busy' });
        return { kind: 'ok', id: answer.operation_id, body: null, replayed: answer.replayed };
      },
      /** Work that the caller waits for. */
      now: async (wanted: AskedWork, caller?: ExtractRequest['caller']): Promise<Answer> => {
        const call = () => calls.served({ ...workOf(env, wanted), ...(caller && { caller }) });
        return calls.followed(
          await (wanted.keyless ? call() : once(idempotencyOf(env, 'extract', wanted), call)),
        );
      },
      cancelOperation: async (tenant_id: string, operation_id: string): Promise<Answer> => {
        const { clock } = env;
        const meta = metaOf({ clock }, CALLER, `cancel ${operation_id}`);
        const name = { operation_id, tenant_id };
        const answer = await cancelWork(deps, money, { name, meta });
        return answer.kind === 'problem'
          ? problem(answer)
          : { kind: 'ok', id: operation_id, body: answer.cancelled };
      },
    },
  };
};

/** Read models that are late are waited for, and not for ever: a request tells no lie, and a sweep comes again. */
const SETTLE_TRIES = 5;

const settled =
  ({ log, caughtUp }: ProcessEnv) =>
  async (): Promise<void> => {
    const head = (await log.head()) ?? -1n;
    for (let tries = 0; tries < SETTLE_TRIES && !(await caughtUp(head)); tries += 1)
      await new Promise((resolve) => void setTimeout(resolve, 1_000));
  };

/** Requests that take one thing of a tenant away. */
interface Cancelling {
  readonly cancelOperation: (tenant: string, id: string) => Promise<Answer>;
  readonly cancelBatch: (tenant: string, id: string) => Promise<Answer>;
  readonly cancelJob: (tenant: string, id: string) => Promise<Answer>;
  readonly revokeKey: (id: string) => Promise<Answer>;
}

const tenantErasing = (
  env: ProcessEnv,
  deps: Deps,
  requests: Cancelling & { readonly eraseDocument: (tenant: string, id: string) => Promise<Answer> },
): EraseTenantDeps => {
  const isOk = ({ kind }: Answer) => kind === 'ok';
  const { objects, clock, store, forgetTexts } = deps;
  const { heldBy, learnedBy } = belongingLists(env);
  return {
    store,
    objects,
    clock,
    documents: documents(store),
    replays: env.replays,
    forgetTexts,
    scrub: () => Promise.resolve(),
    onError: env.onError,
    heldBy,
    learnedBy,
    remove: {
      ...owningRemovals(env, { ...owningOf(env, deps), webhooks: webhookParts(env, deps), requests }),
      operation: async (whose, id) => isOk(await requests.cancelOperation(whose, id)),
      batch: async (whose, id) => isOk(await requests.cancelBatch(whose, id)),
      document: async (whose, id) => isOk(await requests.eraseDocument(whose, id)),
    },
    settle: settled(env),
  };
};

interface AskedReview {
  readonly operation_id: string;
  /** The key of whoever looks at it. */
  readonly by: string;
}

const reviewsOf = (env: ProcessEnv, deps: Deps) => {
  const { store, operations: ops, objects, clock, wrote } = deps;
  return reviewCommands({
    store,
    operations: ops,
    objects,
    clock,
    wrote,
    worker: workHere,
    acceptParts: acceptParts(deps),
    schemas: {
      validate: async (_, value) => {
        await env.work('validate');
        return { kind: 'ok', value, errors: [] };
      },
    },
  });
};

const reviewRequests = (env: ProcessEnv, deps: Deps) => {
  const commands = reviewsOf(env, deps);
  const move =
    <Wanted extends AskedReview>(
      how: (known: KnownReview, meta: CommandMeta, wanted: Wanted) => ReturnType<typeof commands.lease>,
    ) =>
    async (wanted: Wanted): Promise<Answer> => {
      const known = await commands.find(reviewIdOf(wanted.operation_id));
      if (known === undefined) return problem({ code: 'review_not_found' });
      const caller = { key_id: wanted.by, role: 'tenant' } as const;
      const outcome = await how(known, metaOf(env, caller, `review by ${wanted.by}`), wanted);
      if (outcome.kind === 'problem') return problem(outcome);
      if (outcome.kind === 'rejected') return problem({ code: outcome.rejection.code });
      if (outcome.kind !== 'done') return problem({ code: 'busy' });
      return { kind: 'ok', id: known.review_id, body: outcome.state.generation };
    };
  const { signal } = new AbortController();
  return {
    leaseReview: move((known, meta) => commands.lease(known, meta)),
    releaseReview: move((known, meta) => commands.release(known, meta)),
    reopenReview: move((known, meta) => commands.reopen(known, meta)),
    decideReview: move(
      (
        known,
        meta,
        { says, parts }: AskedReview & { readonly says: string; readonly parts?: Json | undefined },
      ) =>
        commands.decide(
          known,
          {
            result: { says, ...(parts !== undefined && { documents: parts }) },
            absent: [],
            note: null,
            generation: undefined,
            signal,
          },
          meta,
        ),
    ),
    rejectReview: move((known, meta) =>
      commands.reject(known, { reason: 'other', note: null, generation: undefined }, meta),
    ),
  };
};

const erasing = (env: ProcessEnv, deps: Deps, cancelling: Cancelling) => {
  const { objects, clock, store, forgetTexts, operations: ops } = deps;
  const erase = eraseDocument({
    ...examplesOf(deps),
    store,
    operations: ops,
    objects,
    clock,
    documents: documents(store),
    replays: env.replays,
    stock: deps.uploading.stock,
    forgetTexts,
    workOn: ({ document_id }) => env.ask('work on', (one) => one.documents.workOn(document_id)),
    awaitedOf: (ids) => env.ask('awaited', (one) => one.documents.awaitedOf(ids)),
    learningFrom: belongingLists(env).learningFrom,
    cancelJob: ({ tenant_id, job_id }) => cancelling.cancelJob(tenant_id, job_id),
    forgetInEvaluations: forgettingIn(env, owningOf(env, deps)),
    settle: settled(env),
  });
  const erasing = async (tenant_id: string, document_id: string): Promise<Answer> => {
    const by = { tenant_id, allTenants: false };
    const refused = await erase(by, document_id, metaOf(env, CALLER, `erase ${document_id}`));
    return refused === undefined ? { kind: 'ok', id: document_id, body: null } : problem(refused);
  };
  const tenant = tenantErasing(env, deps, { eraseDocument: erasing, ...cancelling });
  return {
    eraseDocument: erasing,
    eraseTenant: async (whose: string): Promise<Answer> => {
      const done = await eraseTenant(tenant)(whose, metaOf(env, CALLER, 'erase the tenant'));
      return 'kind' in done ? problem(done) : { kind: 'ok', id: whose, body: null };
    },
    sweepErasures: sweepErasures(tenant),
  };
};

const moneyRequests = (env: ProcessEnv, { accounts }: Deps) => ({
  /** Gives credits, or takes them: an adjustment by its key. */
  adjust: ({ credits, ...wanted }: Asked & { readonly credits: number }): Promise<Answer> =>
    once(idempotencyOf(env, 'adjust', wanted), async () => {
      const { tenant, key, print, correlation } = wanted;
      const data = {
        tenant_id: tenant,
        adjustment_id: env.clock.newId('adj'),
        idempotency_key: key,
        fingerprint: print,
        credits: asCredits(credits),
        reason: 'wanted',
        allow_negative: false,
      };
      const meta = metaOf(env, CALLER, correlation);
      const outcome = await accounts.execute({ type: 'AdjustCredits', data, meta });
      if (outcome.kind === 'done') return { kind: 'ok', id: key, body: null };
      return problem({
        code: (outcome.kind === 'rejected' ? outcome.rejection.code : 'busy') as WorkProblem['code'],
      });
    }),
});

const transferRequests = (env: ProcessEnv, { accounts }: Deps) => ({
  /** Sends credits to another tenant, by its key. */
  transfer: (asked: Asked & { readonly credits: number; readonly to: string }): Promise<Answer> =>
    once(idempotencyOf(env, 'transfer', asked), async () => {
      const { tenant: tenant_id, key: idempotency_key, to: to_tenant_id, credits, correlation } = asked;
      const request = { tenant_id, to_tenant_id, credits, idempotency_key, reason: 'merged' };
      const send = transferCredits({ accounts, clock: env.clock });
      const done = await send(request, metaOf(env, CALLER, correlation));
      if (done.kind === 'done') return { kind: 'ok', id: idempotency_key, body: null };
      return problem({
        code: (done.kind === 'rejected' ? done.rejection.code : 'busy') as WorkProblem['code'],
      });
    }),
});

const rushRequests = ({ limiter, clock }: ProcessEnv) => ({
  /** A request of which there are too many: when it was let in, or how long to wait, ms. */
  rush: async (tenant: string): Promise<Answer> => {
    const { allowed, retryAfterMs } = await limiter.take(`rush:${tenant}`, RUSH);
    if (allowed) return { kind: 'ok', id: tenant, body: clock.monotonicMs?.() };
    return { kind: 'problem', code: `wait ${String(retryAfterMs)}` };
  },
});

const standingRequests = ({ accounts }: Deps) => ({
  /** What the service says that an account has. */
  standing: async (tenant: string): Promise<Answer> => {
    const { balance, held, free_pages_used, free_pages_held } = await accounts.stateOf(tenant, 0);
    const body = { balance, held, freeUsed: free_pages_used, freeHeld: free_pages_held };
    return { kind: 'ok', id: tenant, body };
  },
});

const retentionRequests = (env: ProcessEnv, { store }: Deps) => {
  const retention = retentionCommands(store, env.keeps);
  return {
    /** A tenant's results and deliveries are kept for so many days. */
    setRetention: async ({ key, whose, days }: Asked & RetentionWanted): Promise<Answer> => {
      const own = { uploads: null, results: days, examples: null, deliveries: days };
      const outcome = await retention.set(whose, own, metaOf(env, CALLER, key));
      return outcome.kind === 'done' ? { kind: 'ok', id: key, body: null } : problem({ code: 'busy' });
    },
  };
};

export interface AskedSale extends Asked {
  readonly credits: number;
  /** Minor units; undefined: the caller says credits and no money. */
  readonly gross: number | undefined;
  /** Credits on top. */
  readonly bonus: number | undefined;
}

const paymentRequests = (env: ProcessEnv, { accounts, store, reference }: Deps) => {
  const { clock } = env;
  const deps = {
    reference,
    clock,
    accounts,
    store,
    claimantOf: claimantOf(store),
    payments: payments({ store, writer: accounts, clock }),
    broughtBack: () => Promise.resolve(undefined),
  };
  const [sell, giveBack, tell] = [sellCredits(deps), refundCredits(deps), recordDispute(deps)];
  const answerOf = (
    outcome: { readonly kind: string; readonly rejection?: { readonly code: string } },
    id: string,
  ): Answer => {
    if (outcome.kind === 'done') return { kind: 'ok', id, body: null };
    return problem({ code: (outcome.rejection?.code ?? 'busy') as WorkProblem['code'] });
  };
  return {
    sale: async ({ tenant, credits, gross, bonus, key, correlation }: AskedSale): Promise<Answer> => {
      const money = gross === undefined ? { credits } : { gross_amount_minor: gross };
      const body = {
        tenant_id: tenant,
        provider: 'stripe',
        provider_txn_id: key,
        currency: 'USD',
        ...money,
        vat_amount_minor: 0,
        provider_fee_minor: 0,
        note: `paid by ${tenant}`,
        bonus_credits: bonus,
      };
      const meta = metaOf(env, CALLER, correlation);
      const sold = await sell(body, meta);
      // The provider tells its fee a moment later, by the same payment.
      if (sold.kind === 'done' && gross !== undefined)
        await sell({ ...body, provider_fee_minor: 1 }, metaOf(env, CALLER, correlation));
      return answerOf(sold, key);
    },
    refund: async (
      tenant_id: string,
      { key, credits, correlation }: Pick<AskedSale, 'key' | 'credits' | 'correlation'>,
    ): Promise<Answer> => {
      const body = {
        tenant_id,
        provider: 'stripe',
        provider_txn_id: `re-${key}`,
        credits,
        original_provider_txn_id: key,
        provider_fee_minor: 0,
      };
      const outcome = await giveBack(body, metaOf(env, CALLER, correlation));
      return answerOf(outcome, outcome.kind === 'done' ? outcome.refund.refund_id : key);
    },
    /** A dispute of a sale, or its end, with its fee. */
    dispute: async (told: { key: string; status: DisputeStatus; correlation: string }): Promise<Answer> => {
      const { key, status, correlation } = told;
      const body = {
        provider: 'stripe',
        provider_txn_id: `dp-${key}`,
        original_provider_txn_id: key,
        status,
        fee_minor: status === 'opened' ? null : 15,
      };
      return answerOf(await tell(body, metaOf(env, CALLER, correlation)), key);
    },
    /** Undoes the refund of a sale. */
    reverse: async (
      tenant_id: string,
      { key, refund_id, correlation }: { key: string; refund_id: string; correlation: string },
    ): Promise<Answer> => {
      const refund = { tenant_id, kind: 'refund', provider: 'stripe', provider_txn_id: `re-${key}` };
      const undo = reverseRefund({ ...deps, grantById: () => Promise.resolve(refund) });
      const body = { refund_id, provider_txn_id: `un-${key}` };
      return answerOf(await undo(body, metaOf(env, CALLER, correlation)), key);
    },
  };
};

export interface AskedBatch extends Asked {
  readonly documents: readonly string[];
  readonly measured: boolean;
  readonly waits: boolean;
  readonly mode: Mode;
}

const batchRequests = (env: ProcessEnv, deps: Deps) => {
  const { batches: streams, wrote } = deps;
  const openOf = (tenant: string) => env.ask('open batches', ({ batches: one }) => one.openOfTenant(tenant));
  const accept = acceptBatch({ ...deps, batches: streams, openOf });
  const cancel = cancelBatch({ batches: streams, wrote });
  const begin = extractDocument(deps);
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
  /** A set of the documents, and a run of it. */
  const measure = async (
    request: Omit<Parameters<ReturnType<typeof acceptRun>>[0], 'set_id'>,
    { key, print, mode, documents: ids }: AskedBatch,
  ): Promise<Answer> => {
    const meta = metaOf(env, CALLER, `set ${key}`);
    const named = { set_id: null, set_name: undefined, project_id: undefined, task_id: undefined };
    const examples = ids.map((document_id) => ({ document_id, expected: { total: 1 } }));
    const identity = { idempotency_key: `set ${key}`, fingerprint: print };
    const set = await publish({ ...request, ...named, examples: { examples }, identity }, meta);
    if (set.kind === 'problem') return problem(set);
    const { set_id } = set.version;
    const run = await acceptRun({ ...deps, accept })({ ...request, set_id }, (work) =>
      begin({ ...asked(1, { mode }), ...work }),
    );
    if (run.kind === 'problem') return problem(run);
    return { kind: 'ok', id: batchIdOfRun(run.run_id), body: null, replayed: run.replayed };
  };
  return {
    batch: async (wanted: AskedBatch): Promise<Answer> => {
      const { tenant, key, print, correlation, documents: ids, mode } = wanted;
      const { file: _, ...request } = asked(1, {
        tenant_id: tenant,
        correlation_id: correlation,
        mode,
        idempotency: { idempotency_key: key, fingerprint: print },
        tags: tagsWith(print),
      });
      if (wanted.measured) return measure(request, wanted);
      const completion_window = wanted.waits ? '24h' : undefined;
      const answer = await accept({ ...request, completion_window, document_ids: ids }, (work) =>
        begin({ ...asked(1, { mode }), ...work }),
      );
      if (answer.kind === 'problem') return problem(answer);
      return { kind: 'ok', id: answer.batch_id, body: null, replayed: answer.replayed };
    },
    cancelBatch: async (tenant_id: string, batch_id: string): Promise<Answer> => {
      const answer = await cancel({ batch_id, tenant_id }, metaOf(env, CALLER, `cancel ${batch_id}`));
      return answer.kind === 'problem'
        ? problem(answer)
        : { kind: 'ok', id: batch_id, body: answer.cancelled };
    },
  };
};

export interface AskedJob extends Asked {
  readonly tier: 'light' | 'heavy';
  /** The caller's own provider key. */
  readonly ownKey: string | null;
  /** What it learns from; undefined: from documents of which nobody knows. */
  readonly documents?: readonly string[] | undefined;
}

const jobRequests = (env: ProcessEnv, deps: Deps) => {
  const create = createTrainingJob({
    ...deps,
    setExamples: setExamplesOn(deps),
    documents: documents(deps.store),
    countPages: async ({ documents: named }) => {
      await env.work('count');
      return named.map(({ document_id = null }) => ({
        document_id,
        file_uri: 'quire://uploads/x',
        status: 'ok' as const,
        pages: 1,
        mime_type: 'text/plain',
      }));
    },
  });
  return {
    job: async ({
      tenant,
      key,
      print,
      correlation,
      tier,
      ownKey,
      documents: ids,
    }: AskedJob): Promise<Answer> => {
      const llm = { provider_model: 'openai/gpt', api_key: ownKey, api_base: null };
      const answer = await create(
        jobAsked(key, {
          tenant_id: tenant,
          correlation_id: correlation,
          identity: { idempotency_key: key, fingerprint: print },
          tags: tagsWith(print),
          optimizer_tier: tier,
          ...(ids && { examples: { examples: ids.map((document_id) => ({ document_id, expected: {} })) } }),
          ...(ownKey !== null && { llm, billing_type: 'byok' }),
        }),
      );
      if (answer.kind === 'problem') return problem(answer);
      return { kind: 'ok', id: answer.job_id, body: answer.credits_held, replayed: answer.replayed };
    },
    cancelJob: async (tenant_id: string, job_id: string): Promise<Answer> => {
      const name = { job_id, tenant_id };
      const meta = metaOf(env, CALLER, `cancel ${job_id}`);
      const answer = await cancelWork(deps, jobMoney(deps), { name, meta });
      return answer.kind === 'problem' ? problem(answer) : { kind: 'ok', id: job_id, body: answer.cancelled };
    },
  };
};

const webhookParts = (env: ProcessEnv, { store, objects }: Deps) => ({
  streams: webhookStreams(store),
  deliveries: deliveryStreams(store),
  objects,
  box: env.secrets,
  clock: env.clock,
  store,
  idsOfTenant: (tenant: string) => env.ask('webhooks', ({ webhooks }) => webhooks.idsOf(tenant)),
  randomBytes: (count: number) => new Uint8Array(count).map(() => Math.floor(Math.random() * 256)),
});

const webhookRequests = (env: ProcessEnv, deps: Deps) => {
  const commands = webhookCommands(webhookParts(env, deps));
  const settings = (url: string) => ({
    url,
    events: ['*' as const],
    description: null,
    low_balance_credits: null,
  });
  return {
    webhook: async ({ tenant, key, url }: Asked & { readonly url: string }): Promise<Answer> => {
      const made = await commands.create(tenant, settings(url), metaOf(env, CALLER, key));
      if (made.kind === 'problem') return problem(made);
      if (made.outcome.kind !== 'done') return problem({ code: 'busy' });
      return { kind: 'ok', id: made.outcome.state.webhook?.webhook_id ?? '', body: null };
    },
    changeWebhook: async (
      tenant_id: string,
      { id, url }: { readonly id: string; readonly url: string },
    ): Promise<Answer> => {
      const wanted = { ...settings(url), enabled: true };
      const outcome = await commands.change({ webhook_id: id, tenant_id }, wanted, metaOf(env, CALLER, 'c'));
      return outcome.kind === 'done' ? { kind: 'ok', id, body: null } : problem({ code: 'busy' });
    },
  };
};

interface RowName {
  readonly id: string;
  readonly tenant_id: string;
}

/** The lists of a queue, as its worker asks for them. */
const listsFor = <Name>(
  ask: <T>(question: string, answer: (lists: Lists['jobs']) => T) => Promise<T>,
  named: (row: RowName) => Name,
  few: (limit: number) => number,
): QueueLists<Name> => ({
  waiting: (now, limit) => ask('waiting', (one) => one.waiting(now, few(limit)).map(named)),
  running: (limit) =>
    ask('running', (one) => one.running(limit).map((row) => ({ ...named(row), mark: row.mark }))),
  expired: (now, limit) => ask('expired', (one) => one.expired(now, few(limit)).map(named)),
  unsettled: (after, limit) =>
    ask('unsettled', (one) =>
      one.unsettled(after, few(limit)).map((row) => ({ ...named(row), rank: row.rank })),
    ),
  orphans: (before, limit) => ask('orphans', (one) => one.orphans(before, few(limit)).map(named)),
});

/** Brings a file to the machine of a process. */
const bringing = (env: ProcessEnv) => async (stream: AsyncIterable<Uint8Array>) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const path = env.keepFile(Buffer.concat(chunks));
  return { path, sha256: digestAt(env, path), discard: () => Promise.resolve() };
};

const operationLoops = (
  env: ProcessEnv,
  deps: Deps,
): Readonly<Record<'operations' | 'ranges', readonly Loop[]>> => {
  const ask = <T>(question: string, answer: (lists: Lists['operations']) => T) =>
    env.ask(`operations ${question}`, (lists) => answer(lists.operations));
  const named = ({ id, tenant_id }: { readonly id: string; readonly tenant_id: string }) => ({
    operation_id: id,
    tenant_id,
  });
  const few = (limit: number) => Math.min(limit, env.page);
  const worker = operationWorker({
    ...deps,
    begin: beginTask({
      artifacts: { find: () => Promise.resolve(undefined), load: none, isErased: none },
      extract: extractDocument(deps),
      convert: none,
      sort: sortDocument(deps),
    }),
    bring: bringing(env),
    worker: env.name,
    tickMs: 20_000,
    lists: listsFor(ask, named, few),
    longRunning: (limit) => ask('long running', (one) => one.longRunning(LONG_PAGES, few(limit)).map(named)),
    onError: env.onError,
  });
  return {
    operations: [
      { name: 'operations', everyMs: 1_000, overlaps: true, run: worker.drain },
      { name: 'operations reap', everyMs: 30_000, overlaps: false, run: worker.reap },
    ],
    ranges: [{ name: 'ranges', everyMs: 1_000, overlaps: false, run: worker.help }],
  };
};

const jobLoops = (env: ProcessEnv, deps: Deps): readonly Loop[] => {
  const ask = <T>(question: string, answer: (lists: Lists['jobs']) => T) =>
    env.ask(`jobs ${question}`, (lists) => answer(lists.jobs));
  const named = ({ id, tenant_id }: { readonly id: string; readonly tenant_id: string }) => ({
    job_id: id,
    tenant_id,
  });
  const file = { path: '', file_name: null, sha256: 'a', discard: () => Promise.resolve() };
  const { store, objects, jobs } = deps;
  const worker = trainingWorker({
    ...deps,
    trainer: {
      run: async ({ llm, seed }) => {
        await env.work('train');
        const artifact = new TextEncoder().encode(JSON.stringify({ key: llm?.api_key ?? null, seed }));
        const per_field = [{ path: '/total', baseline: 0.5, best: 0.9 }];
        return { kind: 'trained', artifact, baseline_score: 0.5, best_score: 0.9, per_field };
      },
    },
    artifacts: artifacts({ store, objects, jobs }),
    source: { fetch: () => Promise.resolve({ kind: 'ok', file }) },
    worker: env.name,
    tickMs: 20_000,
    lists: listsFor(ask, named, (limit) => limit),
    onError: env.onError,
  });
  return [
    { name: 'jobs', everyMs: 1_000, overlaps: true, run: worker.drain },
    { name: 'jobs reap', everyMs: 30_000, overlaps: false, run: worker.reap },
  ];
};

const batchLoops = (
  env: ProcessEnv,
  deps: Deps,
  { accept, cancel, abandon }: ReturnType<typeof operationRequests>,
): readonly Loop[] => {
  const ask = <T>(question: string, answer: (lists: Lists['batches']) => T) =>
    env.ask(`batches ${question}`, (lists) => answer(lists.batches));
  const worker = batchWorker({
    ...deps,
    bring: bringing(env),
    operations: { accept, cancel, abandon, streams: deps.operations },
    begin: beginTask({
      artifacts: { find: () => Promise.resolve(undefined), load: none, isErased: none },
      extract: extractDocument(deps),
      convert: none,
      sort: none,
    }),
    lists: {
      toBegin: (openMax, limit, except) => ask('to begin', (one) => one.toBegin(openMax, limit, except)),
      left: (before, limit, except) => ask('left', (one) => one.left(before, limit, except)),
      toCancel: (limit) => ask('to cancel', (one) => one.toCancel(limit)),
      toEnd: (limit) => ask('to end', (one) => one.toEnd(limit)),
      progress: (id) => ask('progress', (one) => one.progress(id)),
    },
    onError: env.onError,
  });
  const scorer = evaluationWorker({
    ...deps,
    score: async ({ expected, answer }) => {
      await env.work('score');
      return { kind: 'scored', scored: scoredAnswer(expected, JSON.parse(answer) as JsonObject) };
    },
    scoreDeadlineMs: 1_000,
    toScore: (limit, except) => ask('to score', (one) => one.toScore(limit, except)),
    onError: env.onError,
  });
  return [
    { name: 'batches', everyMs: 1_000, overlaps: false, run: worker.look },
    { name: 'evaluations', everyMs: 1_000, overlaps: false, run: scorer.look },
  ];
};

const sweeperLoops = (
  env: ProcessEnv,
  deps: Deps,
  { sweepErasures: erasedTenants }: Pick<ReturnType<typeof erasing>, 'sweepErasures'>,
): readonly Loop[] => {
  const { objects, clock, accounts, facts, store } = deps;
  const { usedOf } = deps.uploading;
  const belongings = belongingLists(env);
  const holds = holdSweeper({
    writer: accounts,
    clock,
    payments: payments({ store, writer: accounts, clock: env.clock }),
    openHoldsBefore: (now, limit) => env.ask('expired holds', (one) => one.accounts.expiredHolds(now, limit)),
    openClaimsBefore: (before, limit) =>
      env.ask('open claims', (one) => one.accounts.openClaimsBefore(before, limit)),
    openTransfersBefore: (before, limit) =>
      env.ask('open transfers', (one) => one.accounts.openTransfersBefore(before, limit)),
    onError: env.onError,
  });
  const swept = objectSweeper({
    objects,
    clock,
    documents: documents(store),
    kept: retentionCommands(store, env.keeps).kept,
    ...workFates(deps),
    usedOf,
    learnedOf: belongings.learnedOf,
    awaitedOf: (ids) =>
      env.ask('awaited', ({ documents: { awaitedOf, workOn } }) => {
        const isWorkedOn = (id: string) => workOn(id).some(({ is_open }) => is_open);
        return new Set([...awaitedOf(ids), ...ids.filter(isWorkedOn)]);
      }),
    erased: {
      any: () => env.ask('any erased', (one) => one.documents.anyErased()),
      among: (names) => env.ask('erased', (one) => one.documents.erasedAmong(names)),
      ofJobs: belongings.erasedOfJobs,
      forgetExamples: (documentId, job) => forgetExamples(examplesOf(deps), documentId, job),
      forgetReview: (operationId) => forgetReview(deps, operationId),
      forgetInEvaluations: forgettingIn(env, owningOf(env, deps)),
    },
    erasedTenants,
    texts: sweepTexts({
      feed: env.log,
      objects,
      onError: env.onError,
      seed: 1,
      nowMs: () => Date.parse(clock.now()),
    }),
    onError: env.onError,
  });
  const unfinished = unfinishedSweeper({
    facts,
    clock,
    accounts,
    store,
    checkLog: () => env.log.head(),
    abandonedBefore: (before, limit) =>
      env.ask('abandoned', (one) => one.accounts.abandonedBefore(before, limit)),
    unrecordedBefore: (before, limit) =>
      env.ask('unrecorded', (one) => one.accounts.unrecordedBefore(before, limit) as never),
    onError: env.onError,
  });
  return [
    { name: 'holds', everyMs: 60_000, overlaps: false, run: () => holds.sweep() },
    { name: 'objects', everyMs: 3_600_000, overlaps: false, run: () => swept.sweep() },
    { name: 'unfinished', everyMs: 60_000, overlaps: false, run: () => unfinished.sweep() },
  ];
};

const senderLoops = (env: ProcessEnv, deps: Deps): readonly Loop[] => {
  const sender = webhookSender({
    ...webhookParts(env, deps),
    transport: env.transport,
    lists: {
      webhooks: (now, busy) => env.ask('webhooks due', ({ webhooks }) => webhooks.webhooks(now, busy)),
      removed: (ids) => env.ask('removed', ({ webhooks }) => webhooks.removed(ids)),
      due: (id, now, limit) => env.ask('deliveries due', ({ webhooks }) => webhooks.due(id, now, limit)),
    },
    failingSince: (id) => env.ask('failing since', ({ webhooks }) => webhooks.failingSince(id)),
    random: () => Math.random(),
    onAttempt: () => undefined,
    monotonicMs: () => env.clock.monotonicMs?.() ?? 0,
    lease: () => env.lock('sender'),
    caughtUp: env.caughtUp,
    onError: env.onError,
  });
  const prune = pruneDeliveries({
    store: deps.store,
    clock: deps.clock,
    prunable: (what, size) => env.ask('prunable deliveries', ({ webhooks }) => webhooks.prunable(what, size)),
  });
  const { kept } = retentionCommands(deps.store, env.keeps);
  return [
    { name: 'webhooks', everyMs: 1_000, overlaps: false, run: sender.drain },
    { name: 'pruning', everyMs: 3_600_000, overlaps: false, run: async () => prune(await kept()) },
  ];
};

/** The part of the service that notices that the log was put back, and drops what it remembers. */
const watchLoops = (env: ProcessEnv, { accounts, reference }: Deps): readonly Loop[] => {
  const query = async (text: string): Promise<readonly SqlRow[]> =>
    text.includes('to_regclass') ? [{ there: true }] : [await env.registryRow()];
  const watch = logWatch({
    sql: { query } as unknown as Sql,
    feed: env.log,
    timers: { sleep: none } as never,
    onReplaced: () => {
      accounts.forget('what_agrees');
      reference.forget();
    },
    onDiverged: () => undefined,
    onSettled: () => accounts.forget('all'),
    onError: env.onError,
  });
  return [{ name: 'log watch', everyMs: 10_000, overlaps: false, run: watch.check }];
};

export type SimProcess = ReturnType<typeof simProcess>;

/** One process of the service, with all of its roles. */
export const simProcess = (env: ProcessEnv) => {
  const deps = depsOf(env);
  const { requests, ...own } = operationRequests(env, deps);
  const batched = batchRequests(env, deps);
  const jobs = jobRequests(env, deps);
  const byKey = (asked: Asked, run: () => Promise<Answer>) => once(idempotencyOf(env, 'made', asked), run);
  const { entering, ...keys } = keyRequests(env, { ...deps, once: byKey });
  const cancelling = { ...requests, ...batched, ...jobs, ...keys };
  const { sweepErasures: swept, ...erasures } = erasing(env, deps, cancelling);
  const uploading = {
    ...deps,
    parts: deps.uploading,
    settle: settled(env),
    once: byKey,
    cancelJob: jobs.cancelJob,
    forgetInEvaluations: forgettingIn(env, owningOf(env, deps)),
  };
  return {
    requests: {
      ...requests,
      later: (wanted: AskedWork) => entering(wanted.apiKey, (caller) => requests.later(wanted, caller)),
      now: (wanted: AskedWork) => entering(wanted.apiKey, (caller) => requests.now(wanted, caller)),
      ...keys,
      ...uploadRequests(env, uploading),
      ...rushRequests(env),
      ...erasures,
      ...reviewRequests(env, deps),
      ...moneyRequests(env, deps),
      ...transferRequests(env, deps),
      ...retentionRequests(env, deps),
      ...standingRequests(deps),
      ...paymentRequests(env, deps),
      ...batched,
      ...jobs,
      ...webhookRequests(env, deps),
      ...owningRequests(env, owningOf(env, deps)),
      ...monthRequests(env),
    },
    loops: {
      ...operationLoops(env, deps),
      batches: batchLoops(env, deps, { ...own, requests }),
      jobs: jobLoops(env, deps),
      sweepers: sweeperLoops(env, deps, { sweepErasures: swept }),
      webhooks: senderLoops(env, deps),
      watch: watchLoops(env, deps),
    } satisfies Readonly<Record<string, readonly Loop[]>>,
  };
};

/** The result of an operation as its caller gets it; undefined: it is kept no more, or not there. */
export const resultOf = async (
  objects: ObjectStore,
  state: Pick<OperationState, 'accepted' | 'success'>,
): Promise<unknown> => {
  const stored = await storedResultOf(objects, state);
  return stored && readingIn(stored.body);
};
