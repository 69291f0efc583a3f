import { type BatchState, batchStatus, operationIdOfDocument } from '../../../domain/batch.ts';
import { documentIdIn, fileUriOf } from '../../../domain/document.ts';
import type { BatchRequest } from '../../commands/batches.ts';
import { jsonPieces, type JsonPieces } from '../../commands/storedResult.ts';
import type { ExtractFields } from '../../commands/extract.ts';
import type { ApiDeps } from '../apiDeps.ts';
import type { RouteRequest } from '../defineRoute.ts';
import { workFailure } from '../doneOrProblem.ts';
import { problem } from '../problems.ts';
import { settleReads } from '../reads/settledReads.ts';
import type { BatchBody } from '../wire/batches.ts';
import { operationAsItStands, problemAnswer, type StandingOperation } from './operations.ts';

type AnyRequest = RouteRequest<unknown, unknown, unknown>;
type Known = BatchState & { readonly accepted: NonNullable<BatchState['accepted']> };

const BATCH_ID = /^bat_[A-Za-z0-9-]{1,64}$/;

/** A batch of the tenant, from the log. 404 for another tenant's: it does not say that there is one. */
const findBatch = async (
  { batches }: ApiDeps,
  { caller }: Pick<AnyRequest, 'caller'>,
  batchId: string,
): Promise<Known> => {
  const state = BATCH_ID.test(batchId) ? await batches.streams.stateOf(batchId) : undefined;
  const accepted = state?.accepted ?? null;
  const isTheirs = caller.role !== 'tenant' || accepted?.tenant_id === caller.tenant_id;
  if (state === undefined || accepted === null || !isTheirs)
    throw problem('batch_not_found', 'There is no such batch.');
  return { ...state, accepted };
};

const NOTHING = { queued: 0, running: 0, succeeded: 0, partial: 0, failed: 0, cancelled: 0 };

/** How far it is: as it ended, or as the read models count it, which may be late. */
const progressOf = async (
  { queries }: ApiDeps,
  { accepted, ended }: Known,
): Promise<Pick<BatchBody, 'documents' | 'pages_done' | 'credits_used'>> => {
  const total = accepted.document_ids.length;
  if (ended !== null) {
    const { succeeded, partial, failed, cancelled, pages: pages_done, credits_charged: credits_used } = ended;
    const documents = { ...NOTHING, total, succeeded, partial, failed, cancelled };
    return { documents, pages_done, credits_used };
  }
  const { counts, pages, credits_charged } = (await queries.progressOfBatch(accepted.batch_id)) ?? {
    ...{ counts: NOTHING, pages: 0, credits_charged: 0 },
  };
  const known = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const documents = { ...counts, total, queued: counts.queued + total - known };
  return { documents, pages_done: pages, credits_used: credits_charged };
};

const bodyOf = async (deps: ApiDeps, state: Known): Promise<BatchBody> => {
  const { accepted, started_at, ended } = state;
  const { batch_id, kind: operation, tenant_id, project_id, task_id, accepted_at, expires_at } = accepted;
  return {
    ...{ batch_id, operation, tenant_id, project_id, task_id, status: batchStatus(state) },
    ...(await progressOf(deps, state)),
    ...{ accepted_at, started_at, finished_at: ended?.ended_at ?? null, expires_at },
  };
};

/** A batch and how far it is. */
export const batchAsItStands = async (
  deps: ApiDeps,
  request: Pick<AnyRequest, 'answer' | 'caller'>,
  batchId: string,
): Promise<BatchBody> => {
  const state = await findBatch(deps, request, batchId);
  await settleReads(deps.reads, request, state.accepted.tenant_id);
  return bodyOf(deps, state);
};

/** Accepts a batch. Throws the problem that answers why not. */
export const acceptBatchOf = async (
  deps: ApiDeps,
  request: AnyRequest,
  asked: {
    readonly fields: ExtractFields;
    readonly file_uris: readonly string[];
    readonly work: Omit<BatchRequest, 'document_ids'>;
  },
): Promise<BatchBody> => {
  const document_ids = asked.file_uris.flatMap((uri) => documentIdIn(uri) ?? []);
  const accepted = await deps.batches.accept({ ...asked.work, document_ids }, (work) =>
    deps.extract(asked.fields, work),
  );
  if (accepted.kind === 'problem') throw workFailure(accepted);
  if (accepted.replayed) request.answer.header('Idempotent-Replayed', 'true');
  request.answer.header('Location', `/v1/batches/${accepted.batch_id}`);
  return batchAsItStands(deps, request, accepted.batch_id);
};

/** Cancels a batch that has not ended. */
export const cancelBatchOf = async (
  deps: ApiDeps,
  request: Pick<AnyRequest, 'answer' | 'meta' | 'caller'>,
  batchId: string,
): Promise<BatchBody & { readonly cancelled: boolean }> => {
  const { accepted } = await findBatch(deps, request, batchId);
  const done = await deps.batches.cancel(accepted, request.meta);
  if (done.kind === 'problem') throw workFailure(done);
  return { ...(await batchAsItStands(deps, request, batchId)), cancelled: done.cancelled };
};

/** A line of the results. */
interface ResultLine extends Pick<StandingOperation, 'status' | 'result' | 'error' | 'cost'> {
  readonly index: number;
  readonly file_uri: string;
  readonly document_id: string;
  /** null: it never was one. */
  readonly operation_id: string | null;
}

/** What became of a document that is no operation. */
const outcomeWithout = async (
  deps: ApiDeps,
  { begun, refused, cancelled_at }: Known,
  { index, operation_id }: { readonly index: number; readonly operation_id: string },
): Promise<Pick<ResultLine, 'status' | 'error'>> => {
  const code = refused.get(index);
  if (code === 'cancelled' || (index >= begun && cancelled_at !== null))
    return { status: 'cancelled', error: null };
  if (code === undefined) return { status: 'queued', error: null };
  return { status: 'failed', error: await problemAnswer(deps, operation_id, code) };
};

const lineOf = async (deps: ApiDeps, batch: Known, index: number): Promise<ResultLine> => {
  const { document_ids, ...names } = batch.accepted;
  const document_id = document_ids[index] ?? '';
  const place = { index, file_uri: fileUriOf(document_id), document_id };
  const operation_id = operationIdOfDocument({ ...names, index });
  const state = await deps.operations.streams.stateOf(operation_id);
  if (state.accepted === null) {
    const outcome = await outcomeWithout(deps, batch, { index, operation_id });
    return { ...place, operation_id: null, ...outcome, result: null, cost: null };
  }
  const { status, result, error, cost } = await operationAsItStands(deps, {
    ...state,
    accepted: state.accepted,
  });
  return { ...place, operation_id, status, result, error, cost };
};

/** Lines that are looked up at once. Their results are read one after the other, as they lie. */
const LINES_AT_ONCE = 8;

async function* linesFrom(deps: ApiDeps, batch: Known, from: number): JsonPieces {
  const total = batch.accepted.document_ids.length;
  for (let first = from; first < total; first += LINES_AT_ONCE) {
    const indexes = Array.from({ length: Math.min(LINES_AT_ONCE, total - first) }, (_, at) => first + at);
    const lines = await Promise.all(indexes.map((index) => lineOf(deps, batch, index)));
    for (const line of lines) {
      yield* jsonPieces(line);
      yield '\n';
    }
  }
}

/** What became of each document, line by line, in the order of the request. */
export const batchResults = async (
  deps: ApiDeps,
  request: Pick<AnyRequest, 'answer' | 'caller'>,
  { batchId, from }: { readonly batchId: string; readonly from: number },
): Promise<JsonPieces> => {
  const batch = await findBatch(deps, request, batchId);
  await settleReads(deps.reads, request, batch.accepted.tenant_id);
  return linesFrom(deps, batch, from);
};
