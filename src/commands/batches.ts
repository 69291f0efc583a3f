import type { SavedSettings } from '../../domain/savedConfig.ts';
import {
  batch,
  type BatchCommand,
  batchEvent,
  batchIdFor,
  type BatchKind,
  batchStream,
  isBatchAbandoned,
} from '../../domain/batch.ts';
import { withWindow } from '../../domain/account/messages.ts';
import { canonicalJson, sha256 } from '../../domain/kernel/chain.ts';
import type { Json, JsonObject } from '../../domain/kernel/json.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import { withTags } from '../../domain/kernel/tags.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import { spelledPages } from '@quire/engine/document/pages';
import type { AcceptedOperation, OperationState } from '../../domain/operation.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { batchIdOfSplit, partsIn, placedInBatch, type StackPart } from '../../domain/split.ts';
import {
  batchInputs,
  LostInput,
  type OperationInputDeps,
  operationInputs,
  secretsIn,
  stackPartsOn,
} from './operationInput.ts';
import { reviewOf, storedReview } from './reviews.ts';
import { resultShelf } from './storedResult.ts';
import type { Delivered, HandedOver, ToQueue, WorkPlan, WorkRequest } from './work.ts';
import { namedWork } from './queue.ts';
import { reused, workProblem, type WorkProblem } from './workProblem.ts';
import { metaOf, systemMeta } from '../writer/commandMeta.ts';
import { ABANDONED_AFTER_MS, takePlace } from '../writer/places.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { streamsOf } from '../writer/commandHandler.ts';

interface AcceptBatchDeps extends OperationInputDeps {
  readonly batches: Batches;
  readonly clock: Clock;
  readonly store: EventStore;
  /** Batches of a tenant that have not ended, from before places were counted. May be late. */
  readonly openOf: (tenantId: string) => Promise<readonly string[]>;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/** The request for each document: work that has no file yet. */
export type BatchRequest = Omit<WorkRequest, 'file' | 'document' | 'handOver'> & {
  /** In the order in which they are begun and answered. */
  readonly document_ids: readonly string[];
  /** The version of a set that it measures; left out: none. */
  readonly evaluates?: {
    readonly set_id: string;
    readonly set_version: number;
    /** Stores the schema that is asked with, before the batch is accepted; gives its digest. */
    readonly keepSchema: (batchId: string, schema: JsonObject) => Promise<string>;
  };
};

interface AcceptedBatch {
  readonly kind: 'accepted';
  readonly batch_id: string;
  /** True for the repeat of a request: nothing was begun by it. */
  readonly replayed: boolean;
}

type Begin = (work: WorkRequest) => Promise<Delivered | HandedOver | ToQueue | WorkProblem>;

/** How long an Idempotency-Key names its batch, and how long documents of one are begun, ms. */
const DAY_MS = 24 * 3_600_000;
/** Batches of a tenant that have not ended: ten thousand documents at most wait then. */
export const OPEN_BATCHES_MAX = 10;

/** In the place of a file until there is one: what checks a request looks at none. */
const NO_FILE: WorkRequest['file'] = { path: '', sha256: '', bytes: 0, file_name: null };

/** The batch that the request's identity names: an earlier one, or a free ID. */
const named = async ({ batches, clock }: AcceptBatchDeps, { tenant_id, idempotency }: BatchRequest) => {
  if (idempotency === null) return { batch_id: clock.newId('bat'), earlier: null };
  const { idempotency_key } = idempotency;
  const { id: batch_id, state } = await namedWork({
    idOf: (generation) => batchIdFor({ tenant_id, idempotency_key, generation }),
    stateOf: batches.stateOf,
    read: (one) => ({ since: one.accepted?.accepted_at ?? null, isClosed: isBatchAbandoned(one) }),
    keptMs: DAY_MS,
    now: clock.now(),
  });
  return { batch_id, earlier: state.accepted };
};

const notKept = (): WorkProblem =>
  workProblem(
    'field_encryption_not_configured',
    'This installation cannot keep keys and passwords, which a batch needs until it ends. Set FIELD_ENCRYPTION_KEY.',
  );

/** What each document of a batch gets, and the tags that it is billed with. */
interface Planned extends Pick<WorkRequest, 'tags'> {
  readonly kind: 'planned';
  readonly task: WorkPlan['task'];
}

/** Work that has no file yet, completed by its config; everything that the synchronous call refuses is refused. */
export const plannedWork = async (
  request: Omit<WorkRequest, 'file' | 'document' | 'handOver'>,
  begin: Begin,
): Promise<Planned | WorkProblem> => {
  let taken: Omit<Planned, 'kind'> | undefined;
  const answer = await begin({
    ...request,
    file: NO_FILE,
    handOver: ({ tags }, { task }) => {
      taken = { task, tags };
      return Promise.resolve({ kind: 'handed_over' });
    },
  });
  if (answer.kind === 'problem') return answer;
  if (taken === undefined) throw new Error('a batch was planned, and nobody took the plan');
  return { kind: 'planned', ...taken };
};

type ExtractTask = Extract<WorkPlan['task'], { readonly kind: 'extract' }>;

/** What decides what an extraction reads: of a task, or of a version of a saved config. */
export interface Subject
  extends Pick<ExtractTask, 'schema' | 'mode' | 'artifact_id'>, Omit<SavedSettings, 'review'> {
  readonly llm: SubjectChannel;
  readonly ocr: SubjectChannel;
}
type SubjectChannel = {
  readonly [Member in 'provider_model' | 'api_base' | 'max_tokens' | 'temperature']?:
    | ExtractTask['llm'][Member]
    | null
    | undefined;
};

const channelFacts = ({ provider_model, api_base, max_tokens, temperature }: SubjectChannel) =>
  [provider_model, api_base, max_tokens, temperature].map((said) => said ?? null);

/** The same for whatever reads the same: with whose key a model is asked, and how often, changes nothing. */
export const subjectSha256 = (of: Subject): string =>
  sha256(
    canonicalJson([
      of.schema,
      of.mode,
      of.artifact_id,
      of.min_confidence ?? null,
      of.models_for ?? null,
      of.require_grounding ?? false,
      channelFacts(of.llm),
      channelFacts(of.ocr),
    ] as Json),
  );

/** What a run measures, for its event. */
const evaluatedIn = async (
  batch_id: string,
  task: ExtractTask,
  { set_id, set_version, keepSchema }: NonNullable<BatchRequest['evaluates']>,
) => ({
  set_id,
  set_version,
  config_id: task.config?.config_id ?? null,
  config_version: task.config?.version ?? null,
  artifact_id: task.artifact_id,
  mode: task.mode,
  schema_sha256: await keepSchema(batch_id, task.schema as JsonObject),
  subject_sha256: subjectSha256(task),
});

/** What became of an acceptance. */
const acceptedAs = (
  { wrote }: AcceptBatchDeps,
  { batch_id, tenant_id }: BatchName,
  outcome: Outcome<BatchKind>,
): AcceptedBatch | WorkProblem => {
  if (outcome.kind === 'rejected' && outcome.rejection.code === 'idempotency_key_reused') return reused();
  if (outcome.kind !== 'done')
    return workProblem(
      'busy',
      'The batch could not be queued. Send the request again with the same Idempotency-Key.',
    );
  if (outcome.position !== undefined) wrote(tenant_id, outcome.position);
  return { kind: 'accepted', batch_id, replayed: outcome.events.length === 0 };
};

const written = async (
  deps: AcceptBatchDeps,
  { batch_id, task, tags }: Omit<Planned, 'kind'> & { readonly batch_id: string },
  request: BatchRequest,
): Promise<AcceptedBatch | WorkProblem> => {
  const { tenant_id, project_id, task_id, document_ids, caller, correlation_id, opening } = request;
  if (task.kind !== 'extract') throw new Error('a batch extracts');
  const secret = secretsIn(task, opening.password);
  if (secret !== null && deps.secrets === undefined) return notKept();
  // Reading a set again makes no document a duplicate.
  const asked = request.evaluates === undefined ? task : { ...task, duplicates: undefined };
  const kept = { task: asked, pages: opening.pages, at: [...opening.at] };
  const input_sha256 = await batchInputs(deps).put({ id: batch_id, tenant_id }, kept, secret);
  const meta = metaOf(deps, caller, correlation_id);
  const data = {
    batch_id,
    tenant_id,
    project_id,
    task_id,
    kind: task.kind,
    document_ids: [...document_ids],
    ...(request.evaluates && { evaluated: await evaluatedIn(batch_id, task, request.evaluates) }),
    ...withWindow(request.completion_window),
    input_sha256,
    fingerprint: request.idempotency?.fingerprint ?? '',
    correlation_id,
    api_key_id: caller.key_id,
    api_key_role: caller.role,
    expires_at: laterBy(meta.now, DAY_MS),
    ...withTags(tags),
  };
  const name = { batch_id, tenant_id };
  return acceptedAs(deps, name, await deps.batches.handle(name, { type: 'AcceptBatch', data, meta }));
};

/** Whether a batch that has a place is over. One that was never accepted is closed, a while later, so that it is. */
const isOver = async (
  { batches, clock }: AcceptBatchDeps,
  name: BatchName,
  taken_at: string,
): Promise<boolean> => {
  const state = await batches.stateOf(name.batch_id);
  if (state.ended !== null || isBatchAbandoned(state)) return true;
  const age = Date.parse(clock.now()) - Date.parse(taken_at);
  if (state.accepted !== null || age < ABANDONED_AFTER_MS) return false;
  const meta = systemMeta({ clock }, name.batch_id);
  const closed = await batches.handle(name, { type: 'AbandonBatch', data: name, meta });
  return closed.kind === 'done' && isBatchAbandoned(closed.state);
};

/** Why there is no place for one batch more; undefined: it has one now. */
const withoutPlace = async (
  deps: AcceptBatchDeps,
  { tenant_id, caller, correlation_id }: BatchRequest,
  batch_id: string,
): Promise<WorkProblem | undefined> => {
  const outcome = await takePlace(deps, {
    tenant_id,
    thing: 'batches',
    name: batch_id,
    max: OPEN_BATCHES_MAX,
    meta: () => metaOf(deps, caller, correlation_id),
    isOver: (name, takenAt) => isOver(deps, { tenant_id, batch_id: name }, takenAt),
    earlier: () => deps.openOf(tenant_id),
  });
  if (outcome.kind === 'done') return undefined;
  return workProblem(
    'busy',
    outcome.kind === 'rejected'
      ? `At most ${String(OPEN_BATCHES_MAX)} batches of a tenant may be open at once.`
      : 'The batch could not be queued. Send the request again with the same Idempotency-Key.',
  );
};

/**
 * Accepts a batch, once for its identity. Only the request is looked at: files are opened, pages counted and
 * credits held document by document, by the workers. `begin` is what does such work: all that it refuses before it
 * looks at a file is refused here.
 */
export const acceptBatch =
  (deps: AcceptBatchDeps) =>
  async (request: BatchRequest, begin: Begin): Promise<AcceptedBatch | WorkProblem> => {
    const { batch_id, earlier } = await named(deps, request);
    if (earlier !== null)
      return earlier.fingerprint === request.idempotency?.fingerprint
        ? { kind: 'accepted', batch_id, replayed: true }
        : reused();
    const { document_ids: _, evaluates: __, ...work } = request;
    const plan = await plannedWork(work, begin);
    if (plan.kind === 'problem') return plan;
    return (await withoutPlace(deps, request, batch_id)) ?? written(deps, { ...plan, batch_id }, request);
  };

interface CancelDeps {
  readonly batches: Batches;
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/**
 * Cancels a batch: from this event on no document is begun. Those that wait in the queue already the workers
 * cancel, and give their holds back. `cancelled` is false for one that was cancelled or had ended before.
 */
export const cancelBatch =
  ({ batches, wrote }: CancelDeps) =>
  async (
    name: BatchName,
    meta: CommandMeta,
  ): Promise<{ readonly kind: 'answered'; readonly cancelled: boolean } | WorkProblem> => {
    const outcome = await batches.handle(name, { type: 'CancelBatch', meta });
    if (outcome.kind === 'rejected') return { kind: 'answered', cancelled: false };
    if (outcome.kind !== 'done')
      return workProblem('busy', 'The batch could not be cancelled now. Send the request again in a moment.');
    if (outcome.position !== undefined) wrote(name.tenant_id, outcome.position);
    return { kind: 'answered', cancelled: outcome.events.length > 0 };
  };

/** What routes call for batches. */
export interface BatchCommands {
  readonly accept: ReturnType<typeof acceptBatch>;
  readonly cancel: ReturnType<typeof cancelBatch>;
  readonly streams: Batches;
}

/** A batch, and whose it is. */
export interface BatchName {
  readonly batch_id: string;
  readonly tenant_id: string;
}

/** The streams of batches: which documents may be begun, and which came to nothing. */
export type Batches = ReturnType<typeof batches>;

const rules = { decider: batch, codec: eventCodec(batchEvent), streamOf: batchStream };

export const batches = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<BatchKind>(rules, store);
  return {
    handle: ({ batch_id, tenant_id }: BatchName, command: BatchCommand) =>
      handle(batch_id, command, tenant_id),
    /** From the log; `accepted` is null for one that never was. */
    stateOf,
  };
};

export interface SplitBatchDeps extends OperationInputDeps {
  readonly objects: ObjectStore;
  readonly store: EventStore;
  readonly usage: { readonly isErased: (documentId: string) => Promise<boolean> };
  readonly clock: Clock;
  readonly wrote: (tenantId: string, position: bigint) => void;
}

type Ended = Pick<OperationState, 'accepted' | 'success'>;
type Success = NonNullable<OperationState['success']>;
interface Split {
  readonly accepted: AcceptedOperation;
  readonly success: Success;
}

/** The batch that is due; undefined: none is, or a person has to decide first. */
const dueBatch = async (deps: SplitBatchDeps, split: Split): Promise<string | undefined> => {
  if (split.success.review === undefined) return split.success.then_batch_id;
  return (await reviewOf(deps, split))?.state.decision?.then_batch_id;
};

/** The parts as the split tells them, or as a person has decided. */
const partsOf = async (deps: SplitBatchDeps, split: Split): Promise<readonly StackPart[]> => {
  const { accepted, success } = split;
  const known = await reviewOf(deps, split);
  const decided = known && (await storedReview(deps, known));
  if (decided !== undefined && 'decision' in decided) {
    const { result } = JSON.parse(new TextDecoder().decode(decided.decision)) as { result: JsonObject };
    return partsIn(result);
  }
  const found = await resultShelf(deps.objects).find(accepted.work_id, success.result_sha256 ?? '');
  if (found === undefined) throw new LostInput(`the result of ${accepted.operation_id} is missing`);
  return partsIn(found.body);
};

/** Keeps what each part gets, as a batch keeps what its documents get. */
const keptWork = async (deps: SplitBatchDeps, split: Split, { batch_id, tenant_id }: BatchName) => {
  const { operation_id: id, input_sha256 } = split.accepted;
  const { task, secrets, at, file, source } = await operationInputs(deps).load(
    { id, tenant_id },
    input_sha256,
  );
  const then = 'then' in task ? (task.then ?? []) : [];
  const taskOf = new Map(then.flatMap(({ classes }, index) => classes.map((name) => [name, index] as const)));
  const { documents } = placedInBatch(await partsOf(deps, split), { batch_id, sent: [...taskOf.keys()] });
  const parts = documents.flatMap(({ pages, class: name, batch_index }) =>
    batch_index === null ? [] : [{ pages: spelledPages(pages), task: taskOf.get(name ?? '') ?? 0 }],
  );
  const tasks = [];
  for (const [index, { task: bare, tags }] of then.entries()) {
    const keys = secrets.then?.[index];
    const whole = {
      ...bare,
      llm: { ...bare.llm, api_key: keys?.llm },
      ocr: { ...bare.ocr, api_key: keys?.ocr },
    };
    const secret = secretsIn(whole, secrets.password);
    const put = await batchInputs(deps).put({ id: batch_id, tenant_id }, { task: whole, at }, secret);
    tasks.push({ input_sha256: put, ...withTags(tags) });
  }
  const digest = await stackPartsOn(deps.objects).put(batch_id, { file, source, tasks, parts });
  return { digest, parts };
};

const acceptance = async (deps: SplitBatchDeps, split: Split, name: BatchName) => {
  const { digest, parts } = await keptWork(deps, split, name);
  const { operation_id, project_id, task_id, document_id, fingerprint, tags } = split.accepted;
  const { correlation_id, api_key_id, api_key_role, file_sha256 = '' } = split.accepted;
  const meta = metaOf(deps, { key_id: api_key_id, role: api_key_role }, correlation_id);
  const data = {
    ...name,
    project_id,
    task_id,
    kind: 'extract' as const,
    document_ids: parts.map(() => document_id),
    input_sha256: digest,
    split: { operation_id, file_sha256, pages: parts.map(({ pages }) => pages) },
    fingerprint,
    correlation_id,
    api_key_id,
    api_key_role,
    expires_at: laterBy(meta.now, DAY_MS),
    ...withTags(tags),
  };
  return { type: 'AcceptBatch', data, meta } as const;
};

const commandFor = (deps: SplitBatchDeps, split: Split, name: BatchName) =>
  acceptance(deps, split, name).catch((error: unknown) => {
    if (!(error instanceof LostInput)) throw error;
    // Nothing is left to begin it with: nobody tries again.
    return { type: 'AbandonBatch', data: name, meta: systemMeta(deps, name.batch_id) } as const;
  });

const splitIn = ({ accepted, success }: Ended): Split | undefined =>
  accepted === null || success === null || accepted.kind !== 'split' ? undefined : { accepted, success };

/**
 * Accepts the batch that the parts of a split become, once: its ID follows from that of the split, so whoever comes
 * later finds it. False: this cannot be done now, and has to be asked for again.
 */
export const acceptParts =
  (deps: SplitBatchDeps) =>
  async (operation: Ended): Promise<boolean> => {
    const split = splitIn(operation);
    if (split === undefined || (await dueBatch(deps, split)) === undefined) return true;
    const { tenant_id, work_id, document_id } = split.accepted;
    const name = { batch_id: batchIdOfSplit(work_id), tenant_id };
    const streams = batches(deps.store);
    const state = await streams.stateOf(name.batch_id);
    if (state.accepted !== null || isBatchAbandoned(state)) return true;
    if (await deps.usage.isErased(document_id)) return true;
    const outcome = await streams.handle(name, await commandFor(deps, split, name));
    if (outcome.kind === 'done' && outcome.position !== undefined) deps.wrote(tenant_id, outcome.position);
    return outcome.kind === 'done' || outcome.kind === 'rejected';
  };
