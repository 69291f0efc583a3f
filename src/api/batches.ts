import type { OperationCommands } from '../commands/operations.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import { z } from 'zod';
import {
  BATCH_DOCUMENTS_MAX,
  BATCH_PARTS_MAX,
  type BatchState,
  batchStatus,
  operationIdOfDocument,
} from '../../domain/batch.ts';
import { completionWindow } from '../../domain/account/messages.ts';
import { documentIdIn, fileUriOf } from '../../domain/document.ts';
import type { BatchRequest, BatchCommands } from '../commands/batches.ts';
import { jsonPieces, type JsonPieces } from '../commands/storedResult.ts';
import type { ExtractFields, extractByFields } from '../commands/extract.ts';
import { KEPT_A_DAY, type AnyRequest, routesOver } from '../server/routes.ts';
import { workerOf } from '../server/keys.ts';
import { problem, workFailure } from '../server/problems.ts';
import { settleReads } from '../server/answers.ts';
import {
  operationAsItStands,
  parsedAnswer,
  problemAnswer,
  type StandingOperation,
  type OperationsDeps,
} from './operations.ts';
import type { ResultRow, ResultRows } from '../exports/resultTables.ts';
import { FILE_TYPES, FILE_WORDS, fileQuery, resultFile, resultRow, wantedFile } from './resultFiles.ts';
import {
  creditsOut,
  fromBoundary,
  instantOut,
  pageFacts,
  pageOf,
  listQuery,
  plainText,
  tagFilter,
  tagsIn,
  tagsOut,
  tenantIdText,
  wholeNumberText,
  checkKnown,
} from './schemas/basics.ts';
import {
  CHANNEL_MEMBERS,
  extractionIn,
  llmChannelIn,
  ocrChannelIn,
  openingFields,
} from './schemas/workSchemas.ts';
import { BATCH_PROBLEMS, fieldsIn, looseChannel } from './work.ts';
import type { ChannelName } from '../commands/models.ts';
import { batchesOfTenant } from '../../projections/batches.ts';

/** What these routes need. */
export type BatchesDeps = OperationsDeps & {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'batchesOfTenant' | 'progressOfBatch'>;
  readonly reads: ReadYourWrites;
  readonly extract: ReturnType<typeof extractByFields>;
  readonly operations: OperationCommands;
  readonly batches: BatchCommands;
};

const { get, post } = routesOver<BatchesDeps>();

type Known = BatchState & { readonly accepted: NonNullable<BatchState['accepted']> };

const BATCH_ID = /^bat_[A-Za-z0-9-]{1,64}$/;

/** A batch of the tenant, from the log. 404 for another tenant's: it does not say that there is one. */
const findBatch = async (
  { batches }: BatchesDeps,
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
  { queries }: BatchesDeps,
  { accepted, ended }: Known,
): Promise<Pick<BatchBody, 'documents' | 'pages_done' | 'credits_used'>> => {
  const total = accepted.document_ids.length;
  if (ended !== null) {
    const { succeeded, partial, failed, cancelled, pages: pages_done, credits_charged: credits_used } = ended;
    const documents = { ...NOTHING, total, succeeded, partial, failed, cancelled };
    return { documents, pages_done, credits_used };
  }
  const { counts, pages, credits_charged } = (await queries.progressOfBatch(accepted.batch_id)) ?? {
    counts: NOTHING,
    pages: 0,
    credits_charged: 0,
  };
  const known = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const documents = { ...counts, total, queued: counts.queued + total - known };
  return { documents, pages_done: pages, credits_used: credits_charged };
};

const bodyOf = async (deps: BatchesDeps, state: Known): Promise<BatchBody> => {
  const { accepted, started_at, ended } = state;
  const { batch_id, kind: operation, tenant_id, project_id, task_id, accepted_at, expires_at } = accepted;
  const { split } = accepted;
  return {
    batch_id,
    operation,
    tenant_id,
    project_id,
    task_id,
    status: batchStatus(state),
    ...(await progressOf(deps, state)),
    tags: accepted.tags ?? {},
    completion_window: accepted.completion_window ?? null,
    split_operation_id: split?.operation_id ?? null,
    accepted_at,
    started_at,
    finished_at: ended?.ended_at ?? null,
    expires_at,
  };
};

/** A batch and how far it is. */
const batchAsItStands = async (
  deps: BatchesDeps,
  request: Pick<AnyRequest, 'answer' | 'caller'>,
  batchId: string,
): Promise<BatchBody> => {
  const state = await findBatch(deps, request, batchId);
  await settleReads(deps.reads, request, state.accepted.tenant_id);
  return bodyOf(deps, state);
};

/** Accepts a batch. Throws the problem that answers why not. */
const acceptBatchOf = async (
  deps: BatchesDeps,
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
const cancelBatchOf = async (
  deps: BatchesDeps,
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
  /** null: it is a part of a stack. */
  readonly file_uri: string | null;
  /** Of a part of a stack: those of the stack that it has. */
  readonly pages?: string | undefined;
  readonly document_id: string;
  /** null: it never was one. */
  readonly operation_id: string | null;
}

/** What became of a document that is no operation. */
const outcomeWithout = async (
  deps: BatchesDeps,
  { begun, refused, cancelled_at }: Known,
  { index, operation_id }: { readonly index: number; readonly operation_id: string },
): Promise<Pick<ResultLine, 'status' | 'error'>> => {
  const code = refused.get(index);
  if (code === 'cancelled' || (index >= begun && cancelled_at !== null))
    return { status: 'cancelled', error: null };
  if (code === undefined) return { status: 'queued', error: null };
  return { status: 'failed', error: await problemAnswer(deps, operation_id, code) };
};

const lineOf = async (deps: BatchesDeps, batch: Known, index: number): Promise<ResultLine> => {
  const { document_ids, split, ...names } = batch.accepted;
  const document_id = document_ids[index] ?? '';
  const part = split && { pages: split.pages[index] };
  const place = { index, file_uri: part ? null : fileUriOf(document_id), ...part, document_id };
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

async function* linesFrom(deps: BatchesDeps, batch: Known, from: number): JsonPieces {
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

/** A batch whose documents stand as this process left them. */
const settledBatch = async (
  deps: BatchesDeps,
  request: Pick<AnyRequest, 'answer' | 'caller'>,
  batchId: string,
): Promise<Known> => {
  const batch = await findBatch(deps, request, batchId);
  await settleReads(deps.reads, request, batch.accepted.tenant_id);
  return batch;
};

/**
 * The results as rows of tables. A document that had no result when they were gone through first has none later on:
 * its columns are not there.
 */
const rowsFrom = (deps: BatchesDeps, batch: Known, from: number): ResultRows => {
  const without = new Map<number, ResultRow>();
  const rowOf = async (index: number): Promise<ResultRow> => {
    const known = without.get(index);
    if (known !== undefined) return known;
    const line = await lineOf(deps, batch, index);
    const row = resultRow(line, await parsedAnswer(line.result), { index });
    if (row.result === null) without.set(index, row);
    return row;
  };
  return async function* (only) {
    for (let index = from; index < batch.accepted.document_ids.length; index += 1)
      if (only?.has(index - from) !== false) yield await rowOf(index);
  };
};

/** Complaints of one list: enough to see what is wrong with it. */
const ISSUES_MAX = 10;

/** What is wrong with a list of uploads: a URI that no presign gave, or a repeated one. */
const complaintsOf = (uris: readonly string[]): readonly (readonly [index: number, message: string])[] => {
  const places = new Map<string, number>();
  const complaints: (readonly [number, string])[] = [];
  for (const [index, uri] of uris.entries()) {
    const earlier = places.get(uri);
    if (documentIdIn(uri) === undefined)
      complaints.push([index, 'Not a file_uri that POST /v1/uploads/presign gave.']);
    else if (earlier !== undefined)
      complaints.push([index, `The same document as at ${String(earlier)}: name each once.`]);
    places.set(uri, earlier ?? index);
    if (complaints.length === ISSUES_MAX) break;
  }
  return complaints;
};

const fileUris = z
  .array(plainText(1, 500))
  .min(1)
  .max(BATCH_DOCUMENTS_MAX)
  .superRefine((uris, context) => {
    for (const [index, message] of complaintsOf(uris))
      context.addIssue({ code: 'custom', path: [index], message });
  })
  .meta({ description: 'Uploaded documents, each once; results come in this order.' });

const batchRequest = z
  .strictObject({
    tenant_id: tenantIdText
      .optional()
      .meta({ description: 'For service and admin keys; default: their own.' }),
    project_id: plainText(1, 128).default('default'),
    task_id: plainText(1, 128).default('default'),
    file_uris: fileUris,
    ...extractionIn,
    tags: tagsIn.optional(),
    completion_window: completionWindow.optional().meta({
      description: 'The documents may wait so long: they cost the rate for work that may, if there is one.',
    }),
    ...openingFields,
    llm: llmChannelIn.nullish(),
    ocr: ocrChannelIn.nullish(),
  })
  .meta({ id: 'BatchRequest' });

const batchStatusOut = z.enum(['queued', 'running', 'cancelling', 'ended', 'cancelled']).meta({
  description:
    '`ended`: every document has its outcome. `cancelled`: likewise, but some documents were never begun.',
});

const facts = {
  batch_id: z.string(),
  operation: z.literal('extract'),
  tenant_id: z.string(),
  project_id: z.string(),
  task_id: z.string(),
  status: batchStatusOut,
  accepted_at: instantOut,
  started_at: instantOut.nullable(),
  finished_at: instantOut.nullable(),
};

const documentCounts = z
  .strictObject({
    total: z.int(),
    queued: z.int(),
    running: z.int(),
    succeeded: z.int(),
    partial: z.int(),
    failed: z.int(),
    cancelled: z.int(),
  })
  .meta({ id: 'BatchDocumentCounts' });

const batchBody = z
  .strictObject({
    ...facts,
    documents: documentCounts,
    pages_done: z.int(),
    credits_used: creditsOut,
    tags: tagsOut,
    completion_window: completionWindow.nullable(),
    split_operation_id: z.string().nullable().meta({
      description: 'The split whose parts its documents are; null where each is an upload of its own.',
    }),
    expires_at: instantOut.meta({ description: 'After this time no further document is begun.' }),
  })
  .meta({ id: 'Batch' });
type BatchBody = z.input<typeof batchBody>;

const cancelledBatch = batchBody
  .extend({
    cancelled: z.boolean().meta({ description: 'false if it was already cancelled or had ended.' }),
  })
  .meta({ id: 'CancelledBatch' });

const batchParams = z.object({ batch_id: plainText(1, 128) });

const batchResultsQuery = z.object({
  from: wholeNumberText(0, BATCH_PARTS_MAX).default(0).meta({
    description: 'Index of the first document to return: use it to continue an answer that broke off.',
  }),
  ...fileQuery,
});

const NDJSON = 'application/x-ndjson';

const batchesQuery = z.object({
  tenant_id: tenantIdText,
  status: batchStatusOut.optional(),
  project_id: plainText(1, 128).optional(),
  task_id: plainText(1, 128).optional(),
  tag: tagFilter.optional(),
  accepted_after: fromBoundary.optional(),
  ...listQuery(batchesOfTenant),
});

const batchList = pageOf(
  z
    .strictObject({
      ...facts,
      tags: tagsOut,
      operation: z.string(),
      status: z.string(),
      documents: z.int(),
      begun: z.int(),
      pages_done: z.int().nullable(),
      credits_used: creditsOut.nullable(),
    })
    .meta({ id: 'BatchItem' }),
  'BatchList',
);

export const cancelBatch = post(
  '/v1/batches/{batch_id}/cancel',
  {
    summary: 'Cancel the documents of a batch that have not begun',
    description:
      'Waiting documents are cancelled and their holds released; documents in work are finished and billed. The ' +
      'batch is `cancelled` once all have their outcome.',
    access: 'any',
    params: batchParams,
    reply: { status: 200, schema: cancelledBatch },
    problems: ['batch_not_found', 'busy'],
  },
  (request, deps) => cancelBatchOf(deps, request, request.params.batch_id),
);

const placeOf = (channel: ChannelName, member: string) => ['body', channel, member];

const channelIn = (name: ChannelName, given: object | null | undefined) =>
  looseChannel((given ?? {}) as Record<string, unknown>, {
    members: CHANNEL_MEMBERS,
    at: (member) => placeOf(name, member),
  });

export const createBatch = post(
  '/v1/batches',
  {
    summary: 'Data from up to 1,000 uploaded documents, by one JSON Schema or saved config',
    description:
      'Each document is a separate operation with its own hold, outcome and cost. Workers open the files, so a ' +
      'document that cannot be used or paid for fails alone and does not affect the others. `Location` is the ' +
      'address of the batch.',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    body: batchRequest,
    reply: { status: 202, schema: batchBody },
    problems: BATCH_PROBLEMS,
  },
  async (request, deps) => {
    const { project_id, task_id, file_uris, ...fields } = request.body;
    const { idempotency_key, fingerprint } = request;
    return acceptBatchOf(deps, request, {
      file_uris,
      fields: {
        ...fieldsIn(fields),
        llm: channelIn('llm', fields.llm),
        ocr: channelIn('ocr', fields.ocr),
        channelPaths: placeOf,
      },
      work: {
        tenant_id: request.tenant_id,
        project_id,
        task_id,
        tags: fields.tags,
        completion_window: fields.completion_window,
        caller: workerOf(request.caller),
        correlation_id: request.meta.correlation_id,
        idempotency: idempotency_key === null ? null : { idempotency_key, fingerprint },
        opening: { pages: fields.pages, password: fields.password, at: ['body'] },
        signal: request.signal,
      },
    });
  },
);

export const getBatch = get(
  '/v1/batches/{batch_id}',
  {
    summary: 'The progress of a batch',
    description: 'Its documents by state, the pages delivered, and their cost.',
    access: 'any',
    params: batchParams,
    reply: { status: 200, schema: batchBody },
    problems: ['batch_not_found'],
  },
  (request, deps) => batchAsItStands(deps, request, request.params.batch_id),
);

export const getBatchResults = get(
  '/v1/batches/{batch_id}/results',
  {
    summary: 'The outcome of each document of a batch',
    description:
      'NDJSON in the order of the request: `{index, file_uri, document_id, operation_id, status, result, error, ' +
      'cost}`; the last four are those of the operation. A part of a stack has its `pages`, and no `file_uri`. A ' +
      'document that has not ended is listed with its current status. Each result is kept for 24 hours after its ' +
      'document ended. ' +
      FILE_WORDS,
    access: 'any',
    params: batchParams,
    query: batchResultsQuery,
    reply: { status: 200, contentType: NDJSON, alsoContentTypes: FILE_TYPES },
    problems: ['batch_not_found'],
  },
  async (request, deps) => {
    const { batch_id } = request.params;
    const batch = await settledBatch(deps, request, batch_id);
    const { from } = request.query;
    const type = wantedFile(request, [NDJSON, 'application/json']);
    return type === undefined
      ? { contentType: NDJSON, body: linesFrom(deps, batch, from) }
      : resultFile(request, type, { name: batch_id, rows: rowsFrom(deps, batch, from) });
  },
);

export const listBatches = get(
  '/v1/batches',
  {
    summary: 'The batches of a tenant, newest first',
    description: '`accepted_after` is inclusive. Pages and credits are those of batches that have ended.',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    query: batchesQuery,
    reply: { status: 200, schema: batchList },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async (request, { queries }) => {
    const { tenant_id } = request.query;
    const found = await queries.batchesOfTenant(request.query);
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    const shown = found.items.map(
      ({ kind: operation, pages: pages_done, credits_charged: credits_used, ...item }) => ({
        ...item,
        operation,
        pages_done,
        credits_used,
      }),
    );
    return { items: shown, ...pageFacts(request.query, found) };
  },
);
