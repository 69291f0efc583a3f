import { hasPagesToSee } from '@quire/engine/document/pages';
import { keptFile } from '@quire/engine/ports/keptFile';
import { laterBy } from '../../../domain/kernel/instant.ts';
import type { OperationState } from '../../../domain/operation/decider.ts';
import {
  documentIdOfOperation,
  holdIdOfOperation,
  operationIdFor,
  workIdOfOperation,
} from '../../../domain/operation/identity.ts';
import { placeHold, release, type BillingDeps } from '../work/billedWork.ts';
import { countedFile, type CountedFile, type CountFileDeps } from '../work/countedFile.ts';
import type { HeavySlots } from '../work/heavySlots.ts';
import { workOf } from '../work/heldWork.ts';
import type { Delivered, HandedOver, WorkPlan, WorkRequest } from '../work/work.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';
import { metaOf } from '../writer/commandMeta.ts';
import { operationInputs, secretsIn, type OperationInputDeps } from './operationInput.ts';
import type { Operations } from './operations.ts';

export interface AcceptDeps extends BillingDeps, CountFileDeps, OperationInputDeps {
  readonly operations: Operations;
  readonly slots: Pick<HeavySlots, 'take'>;
  /** How many operations of a tenant have not ended. May be late. */
  readonly openOf: (tenantId: string) => Promise<number>;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

export interface AcceptedOperation {
  readonly kind: 'accepted';
  readonly operation_id: string;
  /** True for the repeat of a request: nothing was begun by it. */
  readonly replayed: boolean;
}

/** How long an Idempotency-Key names its operation, and how long one may take, ms. */
const DAY_MS = 24 * 3_600_000;
/** Operations of a tenant that wait or run: their files lie in the object storage meanwhile. */
export const OPEN_MAX = 1_000;

type Begin = (work: WorkRequest) => Promise<Delivered | HandedOver | WorkProblem>;

/** The operation that the request's identity names: an earlier one, or a free ID. */
const named = async (
  { operations, clock }: AcceptDeps,
  { tenant_id, idempotency }: WorkRequest,
  endpoint: string,
): Promise<{ readonly operation_id: string; readonly earlier: OperationState['accepted'] }> => {
  if (idempotency === null) return { operation_id: clock.newId('op'), earlier: null };
  const { idempotency_key } = idempotency;
  const now = Date.parse(clock.now());
  for (let generation = 0; ; generation += 1) {
    const operation_id = operationIdFor({ tenant_id, endpoint, idempotency_key, generation });
    const { accepted } = await operations.stateOf(operation_id);
    if (accepted === null || now - Date.parse(accepted.accepted_at) < DAY_MS)
      return { operation_id, earlier: accepted };
  }
};

const reused = (): WorkProblem =>
  workProblem('idempotency_key_reused', 'This Idempotency-Key belongs to another request.');

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

const tooLongForModels = (pages: number, pagesMax: number): WorkProblem =>
  workProblem(
    'too_many_pages',
    `The document has ${String(pages)} pages; where a model takes part, at most ${String(pagesMax)} are read at ` +
      'once. Choose some with pages, or leave the model out.',
    { pages, max_pages: pagesMax },
  );

/** What the work is called and billed by, from its file. */
const workFor = (
  { pagesMax }: Pick<AcceptDeps, 'pagesMax'>,
  { request, plan, operation_id }: Asked,
  file: CountedFile,
) => {
  const models = hasPagesToSee(file.mimeType) ? plan.models.paged : plan.models.unpaged;
  if (models.kind === 'problem') return models;
  if (file.pages > pagesMax && (models.llm !== null || models.ocr !== null))
    return tooLongForModels(file.pages, pagesMax);
  return workOf(request, plan, {
    operation_id: workIdOfOperation(operation_id, plan.idPrefix),
    document_id: request.document?.document_id ?? documentIdOfOperation(operation_id),
    pages: file.pages,
    billing_type: models.billing_type,
  });
};

type Named = Exclude<ReturnType<typeof workFor>, WorkProblem>;

/** The file and the request first, then the event: an operation that is known can be done. */
const enqueued = async (
  deps: AcceptDeps,
  { request, plan, operation_id }: Asked,
  {
    bill,
    document_id,
    hold,
  }: Named & { readonly hold: { readonly hold_id: string | null; free: boolean; expires_at: string } },
): Promise<HandedOver | WorkProblem> => {
  const { file, opening, document, tenant_id, project_id, task_id, idempotency, caller } = request;
  const { password, pages, at } = opening;
  const { sha256, bytes, file_name, path } = file;
  const { task } = plan;
  const kept = {
    task,
    file: { sha256, bytes, file_name },
    source: document?.source ?? null,
    pages,
    at: [...at],
  };
  const input_sha256 = await operationInputs(deps).put({ operation_id, tenant_id }, kept, {
    path,
    secret: secretsIn(task, password),
  });
  const { mode, billing_type, correlation_id } = bill;
  const outcome = await deps.operations.handle(
    { operation_id, tenant_id },
    {
      type: 'AcceptOperation',
      meta: metaOf(deps, caller, correlation_id),
      data: {
        ...{ operation_id, tenant_id, project_id, task_id, kind: task.kind, work_id: bill.operation_id },
        ...{ document_id, mode, billing_type, pages: bill.pages, input_sha256 },
        fingerprint: idempotency?.fingerprint ?? '',
        ...{ hold_id: hold.hold_id, free: hold.free, correlation_id },
        ...{ api_key_id: caller.key_id, api_key_role: caller.role },
        expires_at: laterBy(hold.expires_at, -DAY_MS),
      },
    },
  );
  if (outcome.kind === 'rejected') return reused();
  if (outcome.kind !== 'done')
    return workProblem(
      'busy',
      'The work could not be queued. Send the request again with the same Idempotency-Key.',
    );
  if (outcome.position !== undefined) deps.wrote(tenant_id, outcome.position);
  return { kind: 'handed_over' };
};

/** Counts the file, sets aside what the work will cost, and puts it in the queue. */
const handOver = async (deps: AcceptDeps, asked: Asked): Promise<HandedOver | WorkProblem> => {
  const { request, plan, operation_id } = asked;
  if (deps.secrets === undefined && secretsIn(plan.task, request.opening.password) !== null) return notKept();
  const kept = keptFile();
  try {
    const file = await countedFile(deps, { request, plan, kept }, { isWaited: false });
    if (file.kind === 'problem') return file;
    const work = workFor(deps, asked, file);
    if ('code' in work) return work;
    // A hold outlives its operation by a day: time enough to settle, whatever was down meanwhile.
    const expires_at = laterBy(deps.clock.now(), 2 * DAY_MS);
    const hold = await placeHold(deps, work.bill, { hold_id: holdIdOfOperation(operation_id), expires_at });
    if (hold.kind === 'problem') return hold;
    if (hold.kind !== 'held')
      return workProblem('busy', 'The account is busy. Send the request again in a moment.');
    try {
      return await enqueued(deps, asked, { ...work, hold: { ...hold, expires_at } });
    } catch (error) {
      await release(deps, work.bill, { hold_id: hold.hold_id, reason: 'failed' });
      throw error;
    }
  } finally {
    kept.close();
  }
};

const admitted = async (deps: AcceptDeps, tenantId: string): Promise<WorkProblem | undefined> =>
  (await deps.openOf(tenantId)) < OPEN_MAX
    ? undefined
    : workProblem('busy', `At most ${String(OPEN_MAX)} operations of a tenant may wait or run at once.`);

/**
 * Accepts work to be done later, once for its identity: the IDs of the operation, its hold and its work follow from
 * it, so whatever a crash left is taken up by the next request or, a while later, by the reaper. `begin` is what
 * does the work when nobody takes it over: all that it refuses is refused here.
 */
export const acceptOperation =
  (deps: AcceptDeps) =>
  async (work: WorkRequest, endpoint: string, begin: Begin): Promise<AcceptedOperation | WorkProblem> => {
    const { operation_id, earlier } = await named(deps, work, endpoint);
    if (earlier !== null)
      return earlier.fingerprint === work.idempotency?.fingerprint
        ? { kind: 'accepted', operation_id, replayed: true }
        : reused();
    const refused = await admitted(deps, work.tenant_id);
    if (refused !== undefined) return refused;
    const free = deps.slots.take(work.tenant_id);
    if (free === undefined)
      return workProblem(
        'busy',
        'The server is working on as many documents as it can. Try again in a moment.',
      );
    try {
      const answer = await begin({
        ...work,
        handOver: (request, plan) => handOver(deps, { request, plan, operation_id }),
      });
      if (answer.kind === 'problem') return answer;
      return { kind: 'accepted', operation_id, replayed: false };
    } finally {
      free();
    }
  };
