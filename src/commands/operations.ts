import { hasPagesToSee } from '@quire/engine/document/pages';
import { keptFile } from '@quire/engine/ports/documentParser';
import { z } from 'zod';
import {
  type AcceptedOperation,
  documentIdOfOperation,
  type OperationEventOf,
  operationIdFor,
  type OperationKind,
  type OperationState,
  type OperationWork,
  workIdOfOperation,
} from '../../domain/operation.ts';
import { holdIdFor, suffixOf } from '../../domain/leased.ts';
import { isWorkId, type WorkEndpoint } from '../../domain/workEvents.ts';
import { NO_END, withWindow } from '../../domain/account/messages.ts';
import {
  type BillingDeps,
  billOf,
  type HandedOver,
  placeAgain,
  type PlacedHold,
  placeHold,
  type WorkAnswer,
  type WorkPlan,
  type WorkRequest,
  type WorkToBill,
} from './work.ts';
import {
  countedFile,
  type CountedFile,
  type CountFileDeps,
  type DoWorkDeps,
  recordEnd,
  stopwatch,
  workOf,
  completedEnd,
} from './deliverWork.ts';
import {
  dropInputs,
  dropUnreviewed,
  operationFileKeyOf,
  operationInputs,
  secretsIn,
} from './operationInput.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import { BATCH } from '../../domain/batch.ts';
import { type HeavySlots, namesIn, type Room } from './slots.ts';
import { tooManyOpen } from './holds.ts';
import {
  abandonWork,
  type cancelWork,
  type CloseDeps,
  type KeyedDeps,
  operationRules,
  refusalOf,
  type WorkMoney,
  workNamedBy,
} from './queue.ts';
import { acceptParts, type SplitBatchDeps } from './batches.ts';
import { heldElsewhere, noPlace, reused, workProblem, type WorkProblem } from './workProblem.ts';
import { metaOf } from '../writer/commandMeta.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import {
  type BodyEnds,
  formerKeyOf,
  type JsonPieces,
  resultFolderOf,
  resultKeyOf,
  RESULTS_PREFIX,
} from './storedResult.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { withTags } from '../../domain/kernel/tags.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import { streamsOf } from '../writer/commandHandler.ts';

export interface OperationMoneyDeps
  extends BillingDeps, CloseDeps, SplitBatchDeps, Pick<DoWorkDeps, 'facts'> {
  readonly clock: BillingDeps['clock'];
  readonly wrote: CloseDeps['wrote'];
  readonly operations: Operations;
}

/** What an operation is billed by. */
export const workToBill = (accepted: AcceptedOperation): WorkToBill => ({
  operation: accepted.kind,
  operation_id: accepted.work_id,
  tenant_id: accepted.tenant_id,
  mode: accepted.mode,
  billing_type: accepted.billing_type,
  completion_window: accepted.completion_window,
  pages: accepted.pages,
  project_id: accepted.project_id,
  task_id: accepted.task_id,
  tags: accepted.tags,
  caller: { key_id: accepted.api_key_id, role: accepted.api_key_role },
  correlation_id: accepted.correlation_id,
  fingerprint: accepted.fingerprint === '' ? undefined : accepted.fingerprint,
});

/**
 * Bills an operation from the hold that it succeeded with. Only in logs of older releases may that hold be gone before
 * it was billed: then it is placed again, under its own ID.
 */
const billed = async (
  deps: OperationMoneyDeps,
  accepted: AcceptedOperation,
  success: OperationEventOf<'OperationSucceeded'>['data'],
): Promise<boolean> => {
  const { document_id, tenant_id } = accepted;
  const { hold_id, usage_id, outcome: status, duration_ms, result_sha256 } = success;
  const work = workToBill(accepted);
  const delivered = { status, duration_ms, ...(result_sha256 !== undefined && { result_sha256 }) };
  const settlement = { hold_id, usage_id, document_id, delivered };
  let bill = await billOf(deps, work, settlement);
  if (bill.kind === 'hold_not_open' && hold_id !== null) {
    const anew = await placeAgain(deps, work, hold_id);
    if (anew.kind === 'held') bill = await billOf(deps, work, settlement);
  }
  if (bill.kind !== 'billed') return false;
  if (bill.position !== undefined) deps.wrote(tenant_id, bill.position);
  await recordEnd(deps, work, completedEnd(delivered, { free_pages: bill.free_pages, hold_id }));
  return true;
};

/** How operations are billed and closed. */
export const operationMoney = (deps: OperationMoneyDeps): WorkMoney<OperationWork> => ({
  streams: deps.operations,
  isHeldFor: ({ operation_id }, work_id) => isWorkId(work_id) && suffixOf(work_id) === suffixOf(operation_id),
  idOf: ({ operation_id }) => operation_id,
  // The parts of a stack are a batch by the time that callers are told of it.
  bill: async (accepted, success) =>
    (await acceptParts(deps)({ accepted, success })) && billed(deps, accepted, success),
  unbilled: async ({ accepted, status, failure, attempts }) => {
    const code = status === 'cancelled' ? 'request_aborted' : (failure?.code ?? 'internal_error');
    if (attempts > 0) await recordEnd(deps, workToBill(accepted), { kind: 'failed', code });
  },
  // A person who looks at the result has to see the document, and its parts may be the documents of a batch.
  drop: ({ operation_id }, { accepted, success }) =>
    success?.review === undefined && success?.then_batch_id === undefined
      ? dropInputs(deps.objects, operation_id)
      : dropUnreviewed(deps.objects, operation_id, {
          keys: accepted?.kind === 'split' && success.review !== undefined,
        }),
});

/** `known`: IDs, apart by blanks; null: none. */
interface OpenOperations {
  readonly count: number;
  readonly bytes: number;
  readonly known: string | null;
}

interface AcceptDeps extends OperationMoneyDeps, CountFileDeps, Pick<KeyedDeps, 'usage'> {
  readonly usage: KeyedDeps['usage'];
  readonly slots: Pick<HeavySlots, 'take'>;
  /** Operations of a tenant that have not ended, and those of `ids` that it knows at all. May be late. */
  readonly openOf: (tenantId: string, ids: readonly string[]) => Promise<OpenOperations>;
  /** Most bytes of files that came with requests of one tenant and wait. */
  readonly quotaBytes: number;
  /** Of open operations: one in a process. */
  readonly room: Room;
}

export interface QueuedOperation {
  readonly kind: 'accepted';
  readonly operation_id: string;
  /** True for the repeat of a request: nothing was begun by it. */
  readonly replayed: boolean;
}

/** The request's key names work whose caller waited for it: it is answered as that call was. */
interface WaitedFor {
  readonly kind: 'waited_for';
}

/** How long an operation may take, ms. */
const DAY_MS = 24 * 3_600_000;
/** Operations of a tenant that wait or run: their files lie in the object storage meanwhile. */
export const OPEN_MAX = 1_000;

/** The kind of work by its name in URLs, or that it is a document of a batch. */
export type OperationEndpoint = WorkEndpoint | typeof BATCH;

type Begin = (work: WorkRequest) => Promise<WorkAnswer>;

/** The operation of a request: that of a repeat, or a free ID. A problem: its key names something else. */
interface NamedOperation {
  readonly kind: 'named';
  readonly operation_id: string;
  readonly isKnown: boolean;
}

const named = async (
  deps: AcceptDeps,
  { tenant_id, idempotency }: WorkRequest,
  endpoint: OperationEndpoint,
): Promise<NamedOperation | WaitedFor | WorkProblem> => {
  if (idempotency === null) return { kind: 'named', operation_id: deps.clock.newId('op'), isKnown: false };
  const { idempotency_key, fingerprint } = idempotency;
  if (endpoint === BATCH) return documentNamed(deps, { tenant_id, idempotency_key, fingerprint });
  const found = await workNamedBy(deps, { tenant_id, idempotency_key }, endpoint);
  const refused = await refusalOf(deps, found, fingerprint);
  if (refused !== undefined) return refused;
  const { operation_id, accepted, usage } = found;
  if (accepted === null && usage.requested !== null) return { kind: 'waited_for' };
  return { kind: 'named', operation_id, isKnown: accepted !== null };
};

/** A document of a batch is one operation at most, however old the batch is, and even if it was given up. */
const documentNamed = async (
  { operations }: AcceptDeps,
  {
    tenant_id,
    idempotency_key,
    fingerprint,
  }: NonNullable<WorkRequest['idempotency']> & Pick<WorkRequest, 'tenant_id'>,
): Promise<NamedOperation | WorkProblem> => {
  const operation_id = operationIdFor({ tenant_id, endpoint: BATCH, idempotency_key, generation: 0 });
  const { accepted } = await operations.stateOf(operation_id);
  if (accepted !== null && accepted.fingerprint !== fingerprint) return reused();
  return { kind: 'named', operation_id, isKnown: accepted !== null };
};

const notKept = (): WorkProblem =>
  workProblem(
    'field_encryption_not_configured',
    'This installation cannot keep keys and passwords. Set FIELD_ENCRYPTION_KEY, or ask without ' +
      'Prefer: respond-async.',
  );

interface Asked {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly operation_id: string;
}

/** The work's name and its data for billing, from its file. */
const workFor = ({ request, plan, operation_id }: Asked, file: CountedFile) => {
  const models = hasPagesToSee(file.mimeType) ? plan.models.paged : plan.models.unpaged;
  if (models.kind === 'problem') return models;
  return workOf(request, plan, {
    operation_id: workIdOfOperation(operation_id, plan.idPrefix),
    document_id: request.document?.document_id ?? documentIdOfOperation(operation_id),
    pages: file.pages,
    billing_type: models.billing_type,
  });
};

/** Bytes that the request puts into storage until it is done: an upload is there, and counts there. */
const sentBytes = ({ document, file }: WorkRequest): { readonly file_bytes?: number } =>
  document === undefined ? { file_bytes: file.bytes } : {};

const notQueued = (): WorkProblem =>
  workProblem('busy', 'The work could not be queued. Send the request again with the same Idempotency-Key.');

type Named = Exclude<ReturnType<typeof workFor>, WorkProblem>;

/**
 * What is stored and not accepted goes after a day, so nothing is accepted that was stored long ago: its process stood
 * still in between.
 */
const STORED_MAX_MS = 3_600_000;

/** Gives the digest of the request; undefined: it took too long. */
const stored = async (
  deps: AcceptDeps,
  { request, plan: { task }, operation_id }: Asked,
): Promise<string | undefined> => {
  const { file, opening, document, tenant_id } = request;
  const { sha256, bytes, file_name, path } = file;
  const { password, pages, at } = opening;
  const elapsedMs = stopwatch();
  await deps.objects.putFile(operationFileKeyOf(operation_id, sha256), path);
  const digest = await operationInputs(deps).put(
    { id: operation_id, tenant_id },
    { task, file: { sha256, bytes, file_name }, source: document?.source ?? null, pages, at: [...at] },
    secretsIn(task, password),
  );
  return elapsedMs() > STORED_MAX_MS ? undefined : digest;
};

/** Who asked, and with which tags, as the hold says it: another key of the tenant may have been first. */
const whoseWork = (
  { caller, tags }: Named['bill'],
  hold: PlacedHold,
): Pick<AcceptedOperation, 'api_key_id' | 'api_key_role' | 'tags'> => ({
  api_key_id: hold.api_key_id ?? caller.key_id,
  api_key_role: caller.role,
  ...withTags(hold.hold_id === null ? tags : hold.tags),
});

/** The file and the request first, then the event: an operation that is known can be done. */
const enqueued = async (
  deps: AcceptDeps,
  asked: Asked,
  { bill, document_id, hold }: Named & { readonly hold: PlacedHold },
): Promise<HandedOver | WorkProblem> => {
  const { request, plan, operation_id } = asked;
  const { file, tenant_id, project_id, task_id, idempotency, caller } = request;
  const input_sha256 = await stored(deps, asked);
  if (input_sha256 === undefined) return notQueued();
  const { mode, billing_type, correlation_id } = bill;
  const meta = metaOf(deps, caller, correlation_id);
  const outcome = await deps.operations.handle(
    { operation_id, tenant_id },
    {
      type: 'Accept',
      meta,
      data: {
        operation_id,
        tenant_id,
        project_id,
        task_id,
        kind: plan.task.kind,
        work_id: bill.operation_id,
        document_id,
        mode,
        billing_type,
        ...withWindow(bill.completion_window),
        pages: bill.pages,
        input_sha256,
        file_sha256: file.sha256,
        ...sentBytes(request),
        fingerprint: idempotency?.fingerprint ?? '',
        hold_id: hold.hold_id,
        free: hold.free,
        correlation_id,
        ...whoseWork(bill, hold),
        accepted_at: meta.now,
        expires_at: laterBy(meta.now, DAY_MS),
      },
    },
  );
  if (outcome.kind === 'rejected' && outcome.rejection.code === 'idempotency_key_reused') return reused();
  // It was given up while this request was under way: its holds are released.
  if (outcome.kind === 'rejected')
    await abandonWork(deps, operationMoney(deps), { operation_id, tenant_id }).catch(() => false);
  if (outcome.kind !== 'done') return notQueued();
  if (outcome.position !== undefined) deps.wrote(tenant_id, outcome.position);
  return { kind: 'handed_over' };
};

/** Sets aside what the work will cost, under a hold without an end that belongs to this request alone. */
const heldFor = async (deps: AcceptDeps, { request, operation_id }: Asked, bill: Named['bill']) => {
  const hold_id = holdIdFor(operation_id, request.idempotency?.fingerprint ?? '');
  const hold = await placeHold(deps, bill, { hold_id, expires_at: NO_END, open_max: OPEN_MAX });
  if (hold.kind === 'held' || hold.kind === 'problem') return hold;
  if (hold.kind === 'other_hold') return heldElsewhere(hold);
  // A call with this key died and its hold ran out: that is written down, and the key names other work.
  if (!hold.isBilled) await recordEnd(deps, bill, { kind: 'failed', code: 'busy' });
  return workProblem('busy', 'This work has just ended. Send the request again in a moment.');
};

/** Counts the file, sets aside what the work will cost, and puts it in the queue. */
const handOver = async (deps: AcceptDeps, asked: Asked): Promise<HandedOver | WorkProblem> => {
  const { request, plan, operation_id } = asked;
  const { tenant_id } = request;
  if (deps.secrets === undefined && secretsIn(plan.task, request.opening.password) !== null) return notKept();
  const kept = keptFile();
  try {
    const file = await countedFile(deps, { request, plan, kept }, { isWaited: false });
    if (file.kind === 'problem') return file;
    const work = workFor(asked, file);
    if ('code' in work) return work;
    const hold = await heldFor(deps, asked, work.bill);
    if (hold.kind === 'problem') return hold;
    try {
      return await enqueued(deps, asked, { ...work, hold });
    } catch (error) {
      // If this cannot be decided now (it may be in the queue), the reaper decides later.
      await abandonWork(deps, operationMoney(deps), { operation_id, tenant_id }).catch(() => false);
      throw error;
    }
  } finally {
    kept.close();
  }
};

/** A list that is later than this is not waited for, ms: what was accepted here counts no longer by itself. */
const LISTED_MS = 10 * 60_000;
/** What has ended by itself is dropped where so many wait. */
const WAITING_MAX = 1_000;

/**
 * Takes the room that a request needs, or says why there is none. The list of open operations is late, so those that
 * this process has accepted count until the list has them: however many ask at once, no more than the limit get in.
 * Where credits are held the account decides too, for all processes; of work that nobody pays, and of bytes, several
 * processes may together take what each of them has taken while its list was late.
 */
const admission = ({ openOf, quotaBytes, room }: AcceptDeps) => {
  let asked = 0;
  return async (request: WorkRequest, operation_id: string): Promise<WorkProblem | (() => void)> => {
    const { tenant_id } = request;
    if ((asked += 1) % WAITING_MAX === 0) room.forgetUntil(performance.now());
    const before = new Map(room.of(tenant_id));
    const { count, bytes, known } = await openOf(tenant_id, [...before.keys()]);
    const listed = namesIn(known);
    room.forget(tenant_id, listed);
    // Another request may have found them in a list that is newer than this one.
    const taken = new Map([...before, ...room.of(tenant_id)]);
    for (const [name, { takers }] of taken)
      if (takers === 0 || listed.has(name) || name === operation_id) taken.delete(name);
    const used_bytes = [...taken.values()].reduce((sum, one) => sum + one.bytes, bytes);
    if (count + taken.size >= OPEN_MAX) return tooManyOpen(OPEN_MAX);
    const { file_bytes: sent = 0 } = sentBytes(request);
    if (sent === 0 || used_bytes + sent <= quotaBytes)
      return room.take(tenant_id, operation_id, { bytes: sent, untilMs: performance.now() + LISTED_MS });
    return workProblem(
      'upload_quota_exceeded',
      `Files of this tenant's open operations take ${String(used_bytes)} bytes; at most ${String(quotaBytes)} may ` +
        'wait. Send this one when some of them have ended.',
      { used_bytes, quota_bytes: quotaBytes },
    );
  };
};

/**
 * Accepts work to be done later, once for its identity: the IDs of the operation, its hold and its work follow from
 * it, so the next request or, a while later, the reaper takes up whatever a crash left. `begin` does the work
 * if nobody takes it over: everything that it refuses is refused here.
 */
export const acceptOperation = (deps: AcceptDeps) => {
  const admitted = admission(deps);
  return async (
    work: WorkRequest,
    endpoint: OperationEndpoint,
    begin: Begin,
  ): Promise<QueuedOperation | WaitedFor | WorkProblem> => {
    const found = await named(deps, work, endpoint);
    if (found.kind !== 'named') return found;
    const { operation_id } = found;
    if (found.isKnown) return { kind: 'accepted', operation_id, replayed: true };
    if (work.gone !== undefined) return work.gone;
    const giveBack = await admitted(work, operation_id);
    if (typeof giveBack !== 'function') return giveBack;
    let isAccepted = false;
    try {
      const answer = await inSlot(deps, work, () =>
        begin({
          ...work,
          handOver: (request, plan) => handOver(deps, { request, plan, operation_id }),
        }),
      );
      if (answer.kind === 'problem') return answer;
      isAccepted = true;
      return { kind: 'accepted', operation_id, replayed: false };
    } finally {
      if (!isAccepted) giveBack();
    }
  };
};

const inSlot = async (
  { slots }: Pick<AcceptDeps, 'slots'>,
  { tenant_id }: WorkRequest,
  begin: () => Promise<WorkAnswer>,
): Promise<WorkAnswer> => {
  const free = slots.take(tenant_id);
  if (free === undefined) return noPlace();
  try {
    return await begin();
  } finally {
    free();
  }
};

/** What routes call for operations. */
export interface OperationCommands {
  readonly accept: ReturnType<typeof acceptOperation>;
  readonly cancel: (name: OperationName, meta: CommandMeta) => ReturnType<typeof cancelWork>;
  /** Gives up an operation that was not accepted, permanently. False: it was accepted, or this cannot be done now. */
  readonly abandon: (name: OperationName) => Promise<boolean>;
  readonly streams: Operations;
  /** For how many days a tenant's result is answered after it was billed: at least one. */
  readonly resultDays: (tenantId: string) => Promise<number>;
  /** undefined where there is none, or it is kept no more. */
  readonly result: (state: OperationState, ends: BodyEnds) => Promise<JsonPieces | undefined>;
  readonly problem: (operationId: string) => Promise<StoredProblem | undefined>;
  /** The result of work whose caller waited, from the place where it lies. */
  readonly waitedResult: (key: string, ends: BodyEnds) => Promise<JsonPieces | undefined>;
  /** The request that a result answers. */
  readonly requestOf: (key: string) => Promise<JsonObject | undefined>;
}

/** Where the result lies that an operation succeeded with; undefined for one that did not. */
export const keyOfResult = ({
  accepted,
  success,
}: Pick<OperationState, 'accepted' | 'success'>): string | undefined => {
  if (accepted === null || success === null) return undefined;
  const { result_sha256 } = success;
  return result_sha256 === undefined
    ? formerKeyOf(formerPlaceOf(accepted))
    : resultKeyOf(accepted.work_id, result_sha256);
};

/** Where releases before this one put the result of an operation. */
export const formerPlaceOf = ({
  tenant_id,
  operation_id,
}: Pick<NonNullable<OperationState['accepted']>, 'tenant_id' | 'operation_id'>) => ({
  tenant_id,
  endpoint: 'operation',
  idempotency_key: operation_id,
});

/** Why an operation failed, as its answer says it: it may quote the document. */
const storedProblem = z.object({
  code: z.string(),
  detail: z.string(),
  members: z.record(z.string(), z.unknown()).optional(),
});
type StoredProblem = z.output<typeof storedProblem>;

const keyOf = (operationId: string): string => `${resultFolderOf(operationId)}problem`;

/** Where releases before this one put it: whose it is nobody could tell. */
const formerProblemKeyOf = (operationId: string): string =>
  `${RESULTS_PREFIX}${sha256(['operation problem', operationId].join('\u001f'))}`;

export const operationProblems = (objects: Pick<ObjectStore, 'put' | 'get' | 'remove'>) => ({
  remove: async (operationId: string): Promise<void> => {
    for (const key of [keyOf(operationId), formerProblemKeyOf(operationId)]) await objects.remove(key);
  },
  put: (operationId: string, problem: WorkProblem): Promise<void> => {
    const { code, detail } = problem;
    const members =
      problem.code === 'validation_error'
        ? { errors: problem.issues }
        : 'members' in problem
          ? problem.members
          : undefined;
    return objects.put(
      keyOf(operationId),
      new TextEncoder().encode(JSON.stringify({ code, detail, members })),
    );
  },
  /** undefined where there is none, or it is kept no more. */
  find: async (operationId: string): Promise<StoredProblem | undefined> => {
    const bytes =
      (await objects.get(keyOf(operationId))) ?? (await objects.get(formerProblemKeyOf(operationId)));
    if (bytes === undefined) return undefined;
    return storedProblem.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data;
  },
});

/** An operation, and whose it is. */
export type OperationName = OperationWork['identity'];

/** The streams of operations: the queue, and all there is to know of one but its result. */
type Operations = ReturnType<typeof operations>;

export const operations = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<OperationKind>(operationRules, store);
  return {
    handle: ({ operation_id, tenant_id }: OperationName, command: OperationKind['command']) =>
      handle(operation_id, command, tenant_id),
    /** From the log; `accepted` is null for one that never was. */
    stateOf,
  };
};
