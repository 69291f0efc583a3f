import { z } from 'zod';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { ratedOperation } from '../../domain/account/messages.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import { operationOfWorkId, WORK_ID_PREFIXES } from '../../domain/workEvents.ts';
import { runsOfTenant } from '../../projections/runs.ts';
import { keyOfResult } from '../commands/operations.ts';
import { type JsonPieces, jsonPieces, resultKeyOf } from '../commands/storedResult.ts';
import type { Queries } from '../queries/queries.ts';
import { settleReads } from '../server/answers.ts';
import { JSON_TYPE } from '../server/jsonBody.ts';
import { problem } from '../server/problems.ts';
import { type AnyRequest, type RawBody, routesOver } from '../server/routes.ts';
import { ENDS, operationAsItStands, parsedAnswer, problemAnswer, type OperationsDeps } from './operations.ts';
import { FILE_TYPES, FILE_WORDS, fileQuery, wantedFile, workFile } from './resultFiles.ts';
import {
  checkKnown,
  creditsOut,
  fromBoundary,
  instantOut,
  listQuery,
  pageFacts,
  pageOf,
  plainText,
  tagFilter,
  tagsOut,
  tenantIdText,
  toBoundary,
} from './schemas/basics.ts';
import { costOut, errorOut, operationStatus } from './schemas/operationSchemas.ts';

/** What these routes need. */
export type RunsDeps = OperationsDeps & {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'runsOfTenant' | 'runById'>;
};

const { get } = routesOver<RunsDeps>();

const kind = z.enum([...ratedOperation.options, 'training']);

const runsQuery = z.object({
  tenant_id: tenantIdText,
  kind: kind.optional(),
  status: operationStatus.optional(),
  document_id: plainText(1, 100).optional().meta({ description: 'Only work on this document.' }),
  config_id: plainText(1, 200).optional().meta({ description: 'Only work that this config completed.' }),
  key_id: plainText(1, 128).optional().meta({ description: 'Only work that this key asked for.' }),
  tag: tagFilter.optional(),
  from: fromBoundary.optional().meta({ description: 'Only work requested then or later.' }),
  to: toBoundary.optional().meta({ description: 'Only work requested until then, inclusive.' }),
  ...listQuery(runsOfTenant),
});

const runMembers = {
  run_id: z.string().meta({ description: 'ID of the work on a document, or of the training job.' }),
  kind: z.string().meta({ description: '`extract`, `to_markdown`, `classify`, `split` or `training`.' }),
  status: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  task_id: z.string(),
  key_id: z.string(),
  tags: tagsOut,
  operation_id: z
    .string()
    .nullable()
    .meta({ description: 'null for work whose caller waited, and for training jobs.' }),
  review_id: z.string().nullable(),
  document_id: z.string().nullable().meta({ description: 'null for training jobs.' }),
  file_name: z.string().nullable(),
  mime_type: z.string().nullable(),
  config_id: z.string().nullable().meta({ description: 'Saved config that completed the request.' }),
  config_version: z.int().nullable(),
  mode: z.string().nullable().meta({ description: 'How thoroughly the document was read.' }),
  model: z.string().nullable().meta({ description: 'null before work began, and for training jobs.' }),
  pages: z.int().nullable().meta({ description: 'Pages that are billed; null for training jobs.' }),
  credits_used: creditsOut
    .nullable()
    .meta({ description: 'null until it is billed; it is billed only if it succeeds.' }),
  problem_code: z.string().nullable(),
  requested_at: instantOut,
  finished_at: instantOut.nullable().meta({ description: 'null while it waits or runs.' }),
  duration_ms: z.int().nullable(),
  kept_until: instantOut
    .nullable()
    .meta({ description: 'Until when its result is kept; null: there is none, or it is gone.' }),
};

const runItem = z.strictObject(runMembers).meta({ id: 'RunItem' });
const runList = pageOf(runItem, 'RunList');

const runBody = z
  .strictObject({
    ...runMembers,
    request: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'The request, without keys and passwords; kept as long as the result.' }),
    result: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'The answer of the synchronous call; null if there is none or it is gone.' }),
    error: errorOut,
    cost: costOut,
  })
  .meta({ id: 'Run' });

type Row = NonNullable<Awaited<ReturnType<Queries['runById']>>>;

const DAY_MS = 24 * 3_600_000;

interface Kept {
  /** Days that the tenant's results are kept. */
  readonly days: number;
  readonly now: string;
}

const hasResult = ({ result_sha256, finished_at, erased_at, problem_code }: Row) =>
  finished_at !== null && erased_at === null && problem_code === null && result_sha256 !== null;

const keptUntil = (row: Row, { days, now }: Kept): string | null => {
  if (row.finished_at === null || !hasResult(row)) return null;
  const until = laterBy(row.finished_at, days * DAY_MS);
  return until > now ? until : null;
};

const itemOf = (row: Row, kept: Kept) => {
  const { result_sha256: _, free_pages: __, balance_after: ___, erased_at: ____, ...members } = row;
  return { ...members, kept_until: keptUntil(row, kept) };
};

const keptFor = async ({ operations, clock }: RunsDeps, tenantId: string): Promise<Kept> => ({
  days: await operations.resultDays(tenantId),
  now: clock.now(),
});

export const listRuns = get(
  '/v1/runs',
  {
    summary: "A tenant's billed work on documents, and its training jobs, newest first",
    description:
      'Work on documents is listed whether its caller waited or not; `GET /v1/runs/{run_id}` has the ' +
      'result of each. `from` and `to` are inclusive.',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    query: runsQuery,
    reply: { status: 200, schema: runList },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async (request, deps) => {
    const { tenant_id } = request.query;
    const found = await deps.queries.runsOfTenant({ ...request.query, now: deps.clock.now() });
    await checkKnown(deps, tenant_id, { isEmpty: found.total === 0 });
    const kept = await keptFor(deps, tenant_id);
    return { items: found.items.map((row) => itemOf(row, kept)), ...pageFacts(request.query, found) };
  },
);

const RUN_ID = new RegExp(`^(?:${[...WORK_ID_PREFIXES, 'job', 'op'].join('|')})_[A-Za-z0-9-]{1,64}$`);

/** A run of the tenant. 404 for another tenant's: it does not say that there is one. */
const findRun = async (deps: RunsDeps, { caller, answer }: Found, runId: string): Promise<Row> => {
  await settleReads(deps.reads, { answer }, caller.tenant_id);
  const row = RUN_ID.test(runId)
    ? await deps.queries.runById({ id: runId, now: deps.clock.now() })
    : undefined;
  if (row === undefined || (caller.role === 'tenant' && row.tenant_id !== caller.tenant_id))
    throw problem('run_not_found', 'There is no such run.');
  return row;
};

type Found = Pick<AnyRequest, 'answer' | 'caller'>;

/** What came of a run, and what was asked. */
interface Outcome {
  readonly result: JsonPieces | null;
  readonly request: JsonObject | null;
  readonly error: (object & { readonly code: string }) | null;
  readonly cost: Cost | null;
}
type Cost = NonNullable<z.input<typeof costOut>>;

const NONE: Outcome = { result: null, request: null, error: null, cost: null };

const requestIn = async (
  { operations }: RunsDeps,
  key: string | undefined,
  result: JsonPieces | null,
): Promise<JsonObject | null> => {
  if (key === undefined || result === null) return null;
  const stored = await operations.requestOf(key);
  return stored === undefined ? null : requestAnswer(stored);
};

/** Of work that nobody waited for: as its operation answers it. */
const outcomeOfOperation = async (deps: RunsDeps, operationId: string): Promise<Outcome> => {
  const state = await deps.operations.streams.stateOf(operationId);
  const { accepted } = state;
  if (accepted === null) return NONE;
  const { result, error, cost } = await operationAsItStands(deps, { ...state, accepted });
  return { result, request: await requestIn(deps, keyOfResult(state), result), error, cost };
};

const outcomeOfWaited = async (deps: RunsDeps, row: Row, isKept: boolean): Promise<Outcome> => {
  const { run_id, problem_code, credits_used, pages, free_pages, result_sha256 } = row;
  const error = problem_code === null ? null : await problemAnswer(deps, run_id, problem_code);
  if (row.finished_at === null || error !== null) return { ...NONE, error };
  const cost = {
    credits_used: credits_used ?? 0,
    pages: pages ?? 0,
    balance_remaining: row.balance_after,
  };
  if (!isKept || result_sha256 === null) return { ...NONE, cost };
  const key = resultKeyOf(run_id, result_sha256);
  const ends = ENDS[operationOfWorkId(run_id)]({ cost, free_pages: free_pages ?? 0 });
  const result = (await deps.operations.waitedResult(key, ends)) ?? null;
  return { result, request: await requestIn(deps, key, result), error, cost };
};

const outcomeOf = (deps: RunsDeps, row: Row, isKept: boolean): Promise<Outcome> => {
  if (row.operation_id !== null) return outcomeOfOperation(deps, row.operation_id);
  if (row.kind !== 'training') return outcomeOfWaited(deps, row, isKept);
  const { credits_used, pages } = row;
  const cost = credits_used === null ? null : { credits_used, pages: pages ?? 0, balance_remaining: null };
  return Promise.resolve({ ...NONE, cost });
};

const record = z.record(z.string(), z.unknown());

/** Members of a channel as forms spell them. */
const channelAnswer = (name: 'llm' | 'ocr', channel: unknown): object =>
  Object.fromEntries(
    Object.entries(record.catch({}).parse(channel)).map(([member, value]) => [`${name}_${member}`, value]),
  );

/** Contents of a conversion by their names in `include`. */
const INCLUDED = {
  blocks: 'blocks',
  pageMarkdown: 'page_markdown',
  proposedSchema: 'proposed_schema',
  chunks: 'chunks',
  codes: 'codes',
  tableRows: 'tables',
};

const chunksAnswer = (chunks: unknown): object => {
  const { maxCharacters: max_characters, ...asked } = record.catch({}).parse(chunks);
  return { ...asked, ...(max_characters !== undefined && { max_characters }) };
};

const formAnswer = (form: unknown): object => {
  const { tables, ...asked } = record.catch({}).parse(form);
  const include = Object.entries(INCLUDED).flatMap(([name, as]) =>
    asked[name] === undefined || asked[name] === false ? [] : [as],
  );
  return {
    include,
    ...(asked['chunks'] !== undefined && { chunks: chunksAnswer(asked['chunks']) }),
    ...(tables !== undefined && { table_format: tables }),
  };
};

const configAnswer = (config: unknown): object => {
  const { config_id = null, version: config_version = null } = record.catch({}).parse(config);
  return { config_id, config_version };
};

/** A kept request by the names that a new one has. */
const requestAnswer = ({ kind: operation, llm, ocr, form, config, ...members }: JsonObject): JsonObject =>
  ({
    operation,
    ...members,
    ...(operation === 'extract' && configAnswer(config)),
    ...(operation === 'to_markdown' && formAnswer(form)),
    ...channelAnswer('llm', llm),
    ...channelAnswer('ocr', ocr),
  }) as JsonObject;

/** An object of JSON in pieces, without the brace that opens it. */
async function* membersOf(pieces: JsonPieces): JsonPieces {
  let isFirst = true;
  for await (const piece of pieces) {
    yield isFirst ? piece.slice(1) : piece;
    isFirst = false;
  }
}

/** The result of a run as tables: those of a conversion, or the values. */
const runFile = async (
  request: Parameters<typeof workFile>[0],
  type: (typeof FILE_TYPES)[number],
  { row, outcome }: { readonly row: Row; readonly outcome: Outcome },
): Promise<RawBody> => {
  const { run_id: name, kind, operation_id, document_id, status } = row;
  const { result, error, cost } = outcome;
  const told = { operation_id, document_id: document_id ?? '', status, error, cost };
  return workFile(request, type, { name, kind, told, answer: await parsedAnswer(result) });
};

export const getRun = get(
  '/v1/runs/{run_id}',
  {
    summary: 'A run with its request and its result',
    description:
      'The result is that of the day: `kept_until` says for how long. Another tenant’s run is 404, and so is one ' +
      'that does not exist. ' +
      FILE_WORDS,
    access: 'any',
    params: z.object({
      run_id: plainText(1, 128).meta({
        description: 'ID of work on a document, of a training job or of an operation.',
      }),
    }),
    query: z.object(fileQuery),
    reply: { status: 200, schema: runBody, alsoContentTypes: FILE_TYPES },
    problems: ['run_not_found'],
  },
  async (request, deps): Promise<RawBody> => {
    const row = await findRun(deps, request, request.params.run_id);
    const item = itemOf(row, await keptFor(deps, row.tenant_id));
    const outcome = await outcomeOf(deps, row, item.kept_until !== null);
    const type = wantedFile(request);
    if (type !== undefined) return runFile(request, type, { row, outcome });
    const opening = `${JSON.stringify(item).slice(0, -1)},`;
    return { contentType: JSON_TYPE, opening, body: membersOf(jsonPieces(outcome)) };
  },
);
