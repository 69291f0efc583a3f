import { z } from 'zod';
import { jobIdOfArtifact } from '../../domain/trainingJob.ts';
import type { EvaluationSetVersion } from '../../domain/evaluation.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { EvaluationRunRow } from '../../projections/evaluations.ts';
import type { BatchCommands } from '../commands/batches.ts';
import type { PipelineCommands } from '../commands/deployments.ts';
import {
  type acceptRun,
  type EvaluationReport,
  figuresOf,
  findRun,
  type findSet,
  type KnownRun,
  type PublishedSet,
  type SetRequest,
  setNotFound,
} from '../commands/evaluations.ts';
import type { extractByFields } from '../commands/extract.ts';
import type { ExamplesReference } from '../commands/trainingExamples.ts';
import type { WorkProblem } from '../commands/workProblem.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import type { TrainingExample } from '../../domain/ports/trainer.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { type AnyRequest, KEPT_A_DAY, routesOver } from '../server/routes.ts';
import { invalid, problem, workFailure } from '../server/problems.ts';
import { settleReads } from '../server/answers.ts';
import {
  checkKnown,
  creditsOut,
  instantOut,
  orAbsent,
  pageOf,
  pagingQuery,
  plainText,
  tenantIdText,
} from './basics.ts';
import { example, scopeName } from './pipelineSchemas.ts';
import { BATCH_PROBLEMS, looseChannel } from './work.ts';
import { CHANNEL_MEMBERS, extractModeIn } from './workSchemas.ts';
import type { WrongValue } from '../commands/evaluations.ts';

/** What routes call for sets of examples and their runs. */
export interface EvaluationCommands {
  readonly publishSet: (request: SetRequest, meta: CommandMeta) => Promise<PublishedSet | WorkProblem>;
  readonly removeSet: (
    setId: string,
    tenantId: string,
    meta: CommandMeta,
  ) => Promise<WorkProblem | undefined>;
  /** null: of any tenant. */
  readonly findSet: (tenantId: string | null, setId: string) => ReturnType<typeof findSet>;
  /** Whose set it is or was. */
  readonly ownerOf: (setId: string) => Promise<string | undefined>;
  readonly examplesOf: (set: EvaluationSetVersion) => Promise<readonly TrainingExample[]>;
  readonly acceptRun: ReturnType<typeof acceptRun>;
  readonly reportOf: (runId: string, digest: string) => Promise<EvaluationReport | undefined>;
  readonly schemaOf: (runId: string, digest: string) => Promise<JsonObject | undefined>;
  readonly wrongIn: (
    runId: string,
    documentId: string,
    digest: string,
  ) => Promise<readonly WrongValue[] | undefined>;
}

/** What these routes need. */
export interface EvaluationsDeps {
  readonly evaluations: EvaluationCommands;
  readonly batches: BatchCommands;
  readonly extract: ReturnType<typeof extractByFields>;
  readonly pipelines: Pick<PipelineCommands, 'jobs'>;
  readonly queries: Pick<
    Queries,
    'balanceOfTenant' | 'evaluationSetsOfTenant' | 'evaluationRunsOfTenant' | 'evaluationRun' | 'runBefore'
  >;
  readonly reads: ReadYourWrites;
}

const { get, post, remove } = routesOver<EvaluationsDeps>();

/** Whose sets and runs a request may see: of one tenant, or `null` of all. */
const sightOf = ({ caller }: Pick<AnyRequest, 'caller'>): string | null =>
  caller.role === 'tenant' ? caller.tenant_id : null;

/** A set that is there. 404 for another tenant's: it does not say that there is one. */
const setOf = async (
  { evaluations }: EvaluationsDeps,
  request: Pick<AnyRequest, 'caller'>,
  setId: string,
): Promise<EvaluationSetVersion> => {
  const set = await evaluations.findSet(sightOf(request), setId);
  if (set === undefined) throw workFailure(setNotFound());
  return set;
};

const runOf = async (
  { batches }: Pick<EvaluationsDeps, 'batches'>,
  request: Pick<AnyRequest, 'caller'>,
  runId: string,
): Promise<KnownRun> => {
  const run = await findRun(batches.streams, sightOf(request), runId);
  if (run === undefined) throw problem('run_not_found', 'There is no such run.');
  return run;
};

const setRequest = z
  .strictObject({
    tenant_id: tenantIdText.optional().meta({ description: 'For service and admin keys; default: the own.' }),
    set_id: orAbsent(plainText(1, 128)).meta({
      description: 'Of the set to publish a new version of; left out: a new set.',
    }),
    name: plainText(1, 200).optional().meta({
      description: 'Stays in the log for good: put no names of people into it. A new version keeps it.',
    }),
    project_id: scopeName()
      .optional()
      .meta({ description: 'Where its runs are booked; `default`. A new version keeps it.' }),
    task_id: scopeName().optional().meta({ description: 'As `project_id`.' }),
    examples: z
      .array(example)
      .max(1_000)
      .nullish()
      .meta({ description: 'All of them: at least one, each document once. Or a `dataset_id`.' }),
    dataset_id: plainText(1, 100)
      .nullish()
      .meta({ description: 'An upload of kind `dataset`: NDJSON of `{document_id, expected}`.' }),
  })
  .meta({ id: 'EvaluationSetRequest' });

const setMembers = {
  set_id: z.string(),
  version: z.int().meta({ description: 'From 1; each change makes the next.' }),
  tenant_id: z.string(),
  project_id: z.string(),
  task_id: z.string(),
  name: z.string().nullable(),
  documents: z.int().meta({ description: 'Documents of this version.' }),
  created_at: instantOut,
  published_at: instantOut.meta({ description: 'When this version was.' }),
};
const setItem = z.strictObject(setMembers).meta({ id: 'EvaluationSetItem' });
const setBody = z
  .strictObject({ ...setMembers, document_ids: z.array(z.string()) })
  .meta({ id: 'EvaluationSet' });

const setBodyOf = ({
  set_name: name,
  examples,
  fingerprint: _,
  ...set
}: EvaluationSetVersion): z.input<typeof setBody> => ({
  ...set,
  name,
  documents: examples.length,
  document_ids: examples.map(({ document_id }) => document_id),
});

const setParams = z.object({ set_id: plainText(1, 128) });
const ofTenantQuery = { tenant_id: tenantIdText, ...pagingQuery };

const referenceOf = ({ examples, dataset_id }: z.output<typeof setRequest>): ExamplesReference => {
  if ((examples == null) === (dataset_id == null))
    throw invalid({
      loc: ['body', 'examples'],
      msg: 'Send examples or a dataset_id, one of the two.',
      type: 'missing',
    });
  if (dataset_id != null) return { dataset_id };
  return {
    examples: (examples ?? []).map(({ expected, ...reference }) => ({
      ...reference,
      expected: expected as JsonObject,
    })),
  };
};

export const createEvaluationSet = post(
  '/v1/evaluations/sets',
  {
    summary: 'Publish a set of examples, or a new version of one',
    description:
      'Documents with what should be read in them, to measure configs and artifacts by. A version is complete, not a ' +
      'patch, and a version that changes nothing is none. Documents are uploads; one that is erased or removed is ' +
      'taken out of every set.',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    body: setRequest,
    reply: { status: 201, schema: setBody },
    problems: [
      'set_not_found',
      'document_not_found',
      'missing_file',
      'unsupported_file_type',
      'file_too_large',
      'storage_error',
      'busy',
    ],
  },
  async (request, { evaluations }) => {
    const { idempotency_key, fingerprint, caller, meta, signal, body } = request;
    const published = await evaluations.publishSet(
      {
        ...{ tenant_id: request.tenant_id, caller: { key_id: caller.key_id, role: caller.role }, signal },
        correlation_id: meta.correlation_id,
        set_id: body.set_id ?? null,
        ...{ set_name: body.name, project_id: body.project_id, task_id: body.task_id },
        examples: referenceOf(body),
        identity: idempotency_key === null ? null : { idempotency_key, fingerprint },
      },
      meta,
    );
    if (published.kind === 'problem') throw workFailure(published);
    const { version, unchanged } = published;
    if (unchanged && body.set_id === undefined) request.answer.header('Idempotent-Replayed', 'true');
    request.answer.header('Location', `/v1/evaluations/sets/${version.set_id}`);
    return setBodyOf(version);
  },
);

export const listEvaluationSets = get(
  '/v1/evaluations/sets',
  {
    summary: 'The sets of examples of a tenant, last changed first',
    description: 'Each by its latest version.',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    query: z.object(ofTenantQuery),
    reply: { status: 200, schema: pageOf(setItem, 'EvaluationSetList') },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ query }, { queries }) => {
    const { tenant_id, limit, offset } = query;
    const { items, total } = await queries.evaluationSetsOfTenant(query);
    await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
    const shown = items.map(({ set_name: name, position: _, ...set }) => ({ ...set, name }));
    return { items: shown, total, limit, offset };
  },
);

export const getEvaluationSet = get(
  '/v1/evaluations/sets/{set_id}',
  {
    summary: 'A set of examples by its latest version',
    description: 'What its documents should say is in `GET /v1/evaluations/sets/{set_id}/examples`.',
    access: 'any',
    params: setParams,
    reply: { status: 200, schema: setBody },
    problems: ['set_not_found'],
  },
  async (request, deps) => setBodyOf(await setOf(deps, request, request.params.set_id)),
);

export const getEvaluationSetExamples = get(
  '/v1/evaluations/sets/{set_id}/examples',
  {
    summary: 'The examples of a set',
    description: 'NDJSON, a line `{document_id, expected}` for each: it can be sent back as a dataset.',
    access: 'any',
    bucket: 'heavy',
    params: setParams,
    reply: { status: 200, contentType: 'application/x-ndjson' },
    problems: ['set_not_found', 'storage_error'],
  },
  async (request, deps) => {
    const examples = await deps.evaluations.examplesOf(await setOf(deps, request, request.params.set_id));
    const body = examples.map((one) => `${JSON.stringify(one)}\n`).join('');
    return { contentType: 'application/x-ndjson', body };
  },
);

export const removeEvaluationSet = remove(
  '/v1/evaluations/sets/{set_id}',
  {
    summary: 'Remove a set of examples with all its versions',
    description:
      'For good: what its documents should say is removed, too. The documents and the figures of its runs stay.',
    access: 'any',
    params: setParams,
    reply: { status: 204 },
    problems: ['set_not_found', 'storage_error', 'busy'],
  },
  async (request, { evaluations }) => {
    const { set_id } = request.params;
    const [owner, sight] = [await evaluations.ownerOf(set_id), sightOf(request)];
    if (owner === undefined || (sight !== null && sight !== owner)) throw workFailure(setNotFound());
    const refused = await evaluations.removeSet(set_id, owner, request.meta);
    if (refused !== undefined) throw workFailure(refused);
    return undefined;
  },
);

const runRequest = z
  .strictObject({
    tenant_id: tenantIdText.optional().meta({ description: 'For service and admin keys; default: the own.' }),
    set_id: plainText(1, 128).meta({ description: 'The set to measure by, in its latest version.' }),
    config_id: orAbsent(plainText(1, 200)).meta({ description: 'The saved config to measure.' }),
    artifact_id: orAbsent(plainText(1, 200)).meta({ description: 'The artifact to measure.' }),
    schema: z
      .unknown()
      .optional()
      .meta({ description: 'The JSON Schema to measure, where neither config nor artifact has one.' }),
    mode: orAbsent(extractModeIn),
  })
  .meta({ id: 'EvaluationRunRequest' });

const runStatus = z
  .enum(['queued', 'running', 'cancelling', 'scoring', 'succeeded', 'cancelled'])
  .meta({ description: '`scoring`: every document has its outcome, and they are compared with the set.' });

const shareOut = z.number().min(0).max(1).nullable();
const figures = {
  precision: shareOut.meta({
    description: 'Right ones among the values that were read; null: there are none.',
  }),
  recall: shareOut.meta({
    description: 'Right ones among the values that should be read; null: there are none.',
  }),
  f1: shareOut.meta({ description: '2 tp / (2 tp + fp + fn); null: there is nothing to read.' }),
};
const counts = {
  tp: z.int().meta({ description: 'Values that are right.' }),
  fp: z.int().meta({ description: 'Values that are wrong, or that should not be there.' }),
  fn: z.int().meta({ description: 'Values that are missing, or wrong.' }),
};

const measured = {
  config_id: z.string().nullable(),
  config_version: z.int().nullable(),
  artifact_id: z.string().nullable(),
  examples: z
    .int()
    .nullable()
    .meta({ description: 'Examples that the artifact learned from; null without one.' }),
  mode: z.string(),
  schema_sha256: z.string(),
};

const runMembers = {
  run_id: z.string(),
  batch_id: z.string().meta({ description: 'The batch that the run is: its operations and results.' }),
  tenant_id: z.string(),
  set_id: z.string(),
  set_version: z.int(),
  ...measured,
  status: runStatus,
  documents: z.int(),
  scored: z.int().nullable().meta({ description: 'Documents that were compared; null until they are.' }),
  left_out: z
    .int()
    .nullable()
    .meta({ description: 'Documents that say nothing of quality: not paid for, or gone.' }),
  ...figures,
  pages: z.int().nullable(),
  credits_used: creditsOut
    .nullable()
    .meta({ description: 'What its documents cost; null until it has ended.' }),
  accepted_at: instantOut,
  started_at: instantOut.nullable(),
  finished_at: instantOut.nullable(),
  scored_at: instantOut.nullable(),
};
const runItem = z.strictObject(runMembers).meta({ id: 'EvaluationRunItem' });

const changeOut = z
  .number()
  .nullable()
  .meta({ description: 'F1 less that of the previous run; null where either has none.' });

const runBody = z
  .strictObject({
    ...runMembers,
    schema: z.record(z.string(), z.unknown()).nullable().meta({ description: 'What was asked with.' }),
    calibration: z
      .array(z.strictObject({ from: z.number(), values: z.int(), right: z.int() }))
      .meta({ description: 'Of the values at least so sure, how many there are and how many are right.' }),
    per_field: z
      .array(z.strictObject({ path: z.string(), ...counts, ...figures, change: changeOut }))
      .meta({ description: '`*` stands for places in lists, and for names that the schema does not have.' }),
    per_document: z
      .array(
        z.strictObject({
          document_id: z.string(),
          operation_id: z.string().nullable(),
          left_out: z.string().nullable().meta({ description: 'Why it was not compared.' }),
          ...counts,
          ...figures,
          change: changeOut,
        }),
      )
      .meta({ description: 'In the order of the set.' }),
    previous: z
      .strictObject({ run_id: z.string(), set_version: z.int(), ...figures, change: changeOut })
      .nullable()
      .meta({ description: 'The run of this set before it.' }),
  })
  .meta({ id: 'EvaluationRun' });

const acceptedRun = z
  .strictObject({
    run_id: z.string(),
    batch_id: z.string(),
    set_id: z.string(),
    set_version: z.int(),
    status: z.literal('queued'),
    documents: z.int(),
    accepted_at: instantOut,
  })
  .meta({ id: 'AcceptedEvaluationRun' });

const runParams = z.object({ run_id: plainText(1, 128) });

const NO_CHANNEL = looseChannel({}, { members: CHANNEL_MEMBERS, at: (member) => ['body', member] });

export const createEvaluationRun = post(
  '/v1/evaluations/runs',
  {
    summary: 'Measure a config, an artifact or a schema by a set of examples',
    description:
      'The documents of the set are extracted as a batch, billed as always, and compared with what should be read. ' +
      'With the same `Idempotency-Key` there is one run.',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    body: runRequest,
    reply: { status: 202, schema: acceptedRun },
    problems: ['set_not_found', ...BATCH_PROBLEMS],
  },
  async (request, deps) => {
    const { schema, mode, artifact_id, config_id, set_id } = request.body;
    const { idempotency_key, fingerprint, caller, signal } = request;
    const fields = {
      ...{ schema, mode, artifact_id, config_id, allow_partial: true, citations: true },
      min_confidence: undefined,
    };
    const channels = { llm: NO_CHANNEL, ocr: NO_CHANNEL, channelPaths: () => ['body', 'config_id'] };
    const accepted = await deps.evaluations.acceptRun(
      {
        ...{ set_id, tenant_id: request.tenant_id, caller: { key_id: caller.key_id, role: caller.role } },
        correlation_id: request.meta.correlation_id,
        idempotency: idempotency_key === null ? null : { idempotency_key, fingerprint },
        opening: { pages: undefined, password: undefined, at: ['body'] },
        signal,
      },
      (work) => deps.extract({ ...fields, ...channels }, work),
    );
    if (accepted.kind === 'problem') throw workFailure(accepted);
    if (accepted.replayed) request.answer.header('Idempotent-Replayed', 'true');
    request.answer.header('Location', `/v1/evaluations/runs/${accepted.run_id}`);
    const run = await runOf(deps, request, accepted.run_id);
    const { batch_id, document_ids, accepted_at } = run.accepted;
    const { set_version } = run.evaluated;
    return {
      ...{ run_id: accepted.run_id, batch_id, set_id, set_version, status: 'queued' as const },
      ...{ documents: document_ids.length, accepted_at },
    };
  },
);

type RunItem = z.input<typeof runItem>;

const rounded = (change: number): number => Math.round(change * 10_000) / 10_000;

const changeOf = (now: number | null, before: number | null | undefined): number | null =>
  now === null || before == null ? null : rounded(now - before);

const countsOf = ({ tp, fp, fn }: Pick<EvaluationRunRow, 'tp' | 'fp' | 'fn'>) => ({
  ...{ tp: tp ?? 0, fp: fp ?? 0, fn: fn ?? 0 },
});

/** How many examples an artifact learned from, from the log. */
const examplesOf = async (
  { pipelines }: Pick<EvaluationsDeps, 'pipelines'>,
  artifactId: string | null,
): Promise<number | null> =>
  artifactId === null
    ? null
    : ((await pipelines.jobs.stateOf(jobIdOfArtifact(artifactId))).accepted?.examples ?? null);

const itemOf = async (deps: EvaluationsDeps, row: EvaluationRunRow): Promise<RunItem> => {
  const { run_id, batch_id, tenant_id, set_id, set_version, scored, left_out, credits_charged } = row;
  const { config_id, config_version, artifact_id, mode, schema_sha256 } = row;
  return {
    ...{ run_id, batch_id, tenant_id, set_id, set_version, config_id, config_version, artifact_id, mode },
    ...{ schema_sha256, examples: await examplesOf(deps, artifact_id), documents: row.documents },
    ...{ status: runStatus.parse(row.status), scored, left_out, ...figuresOf(countsOf(row)) },
    ...{ pages: row.pages, credits_used: credits_charged, accepted_at: row.accepted_at },
    ...{ started_at: row.started_at, finished_at: row.finished_at, scored_at: row.scored_at },
  };
};

const runsQuery = z.object({
  ...ofTenantQuery,
  set_id: plainText(1, 128).optional(),
  status: runStatus.optional(),
});

export const listEvaluationRuns = get(
  '/v1/evaluations/runs',
  {
    summary: 'The runs of a tenant, newest first',
    description: 'By field and by document they are in `GET /v1/evaluations/runs/{run_id}`.',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    query: runsQuery,
    reply: { status: 200, schema: pageOf(runItem, 'EvaluationRunList') },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ query }, deps) => {
    const { tenant_id, limit, offset } = query;
    const { items, total } = await deps.queries.evaluationRunsOfTenant(query);
    await checkKnown(deps, tenant_id, { isEmpty: total === 0 });
    return { items: await Promise.all(items.map((row) => itemOf(deps, row))), total, limit, offset };
  },
);

/** A run with its report; an empty one until it is scored. */
interface Reported {
  readonly row: EvaluationRunRow;
  readonly report: EvaluationReport;
}

const reportedOf = async (
  { evaluations }: EvaluationsDeps,
  row: EvaluationRunRow | undefined,
): Promise<Reported | undefined> => {
  if (row === undefined) return undefined;
  const { run_id, report_sha256 } = row;
  const report = report_sha256 === null ? undefined : await evaluations.reportOf(run_id, report_sha256);
  return { row, report: report ?? { fields: [], documents: [], calibration: [] } };
};

const fieldsOf = ({ report }: Reported, before: Reported | undefined) => {
  const then = new Map(before?.report.fields.map(({ path, ...field }) => [path, figuresOf(field).f1]));
  return report.fields.map(({ path, ...field }) => {
    const shown = figuresOf(field);
    return { path, ...field, ...shown, change: changeOf(shown.f1, then.get(path)) };
  });
};

const documentsOf = ({ report }: Reported, before: Reported | undefined) => {
  const compared = before?.report.documents.filter(({ left_out }) => left_out === null) ?? [];
  const then = new Map(compared.map(({ document_id, ...found }) => [document_id, figuresOf(found).f1]));
  return report.documents.map(({ wrong_sha256: _, ...found }) => {
    const shown = figuresOf(found);
    const change = found.left_out === null ? changeOf(shown.f1, then.get(found.document_id)) : null;
    return { ...found, ...shown, change };
  });
};

const previousOf = ({ row }: Reported, before: Reported | undefined) => {
  if (before === undefined) return null;
  const then = figuresOf(countsOf(before.row));
  const { run_id, set_version } = before.row;
  return { run_id, set_version, ...then, change: changeOf(figuresOf(countsOf(row)).f1, then.f1) };
};

/** A run as the read models have it; 503 where they are not that far. */
const rowOf = async (
  { queries, reads }: EvaluationsDeps,
  request: Pick<AnyRequest, 'answer'>,
  { accepted: { tenant_id } }: KnownRun,
  runId: string,
): Promise<EvaluationRunRow> => {
  await settleReads(reads, request, tenant_id);
  const row = await queries.evaluationRun(runId);
  if (row === undefined) throw problem('not_ready', 'The read models do not have this run yet. Ask again.');
  return row;
};

export const getEvaluationRun = get(
  '/v1/evaluations/runs/{run_id}',
  {
    summary: 'A run: in all, by field, by document',
    description:
      'Ask until `status` is `succeeded` or `cancelled`. Changes are against the run of the same set before it. What ' +
      'was wrong in a document is in `GET /v1/evaluations/runs/{run_id}/documents/{document_id}`.',
    access: 'any',
    params: runParams,
    reply: { status: 200, schema: runBody },
    problems: ['run_not_found', 'storage_error', 'not_ready'],
  },
  async (request, deps) => {
    const { run_id } = request.params;
    const known = await runOf(deps, request, run_id);
    const row = await rowOf(deps, request, known, run_id);
    const now = await reportedOf(deps, row);
    if (now === undefined) throw new Error('a run that is there has no report');
    const isScored = row.scored_at !== null;
    const before = isScored ? await reportedOf(deps, await deps.queries.runBefore(row)) : undefined;
    return {
      ...(await itemOf(deps, row)),
      schema: (await deps.evaluations.schemaOf(run_id, row.schema_sha256)) ?? null,
      calibration: now.report.calibration,
      per_field: fieldsOf(now, before),
      per_document: documentsOf(now, before),
      previous: previousOf(now, before),
    };
  },
);

const wrongOut = z
  .strictObject({
    path: z.string(),
    at: z.string().nullable().meta({ description: 'JSON Pointer into the result; null: nothing is there.' }),
    expected: z.string().nullable().meta({ description: 'As JSON, at most 300 characters; null: nothing.' }),
    got: z.string().nullable().meta({ description: 'As `expected`.' }),
    confidence: z.number().nullable(),
    page: z.int().nullable().meta({ description: 'Where it was read.' }),
  })
  .meta({ id: 'EvaluationWrongValue' });

const runDocument = z
  .strictObject({
    run_id: z.string(),
    document_id: z.string(),
    operation_id: z.string().nullable(),
    left_out: z.string().nullable(),
    ...counts,
    ...figures,
    wrong: z
      .array(wrongOut)
      .nullable()
      .meta({ description: 'At most 1,000; null where the document was erased since.' }),
  })
  .meta({ id: 'EvaluationRunDocument' });

export const getEvaluationRunDocument = get(
  '/v1/evaluations/runs/{run_id}/documents/{document_id}',
  {
    summary: 'What was wrong in a document of a run',
    description: 'Each value that differs from what should be read, with where it was read and how surely.',
    access: 'any',
    params: z.object({ run_id: plainText(1, 128), document_id: plainText(1, 128) }),
    reply: { status: 200, schema: runDocument },
    problems: ['run_not_found', 'document_not_found', 'storage_error', 'not_ready'],
  },
  async (request, deps) => {
    const { run_id, document_id } = request.params;
    const known = await runOf(deps, request, run_id);
    const found = await reportedOf(deps, await rowOf(deps, request, known, run_id));
    const row = found?.report.documents.find((one) => one.document_id === document_id);
    if (row === undefined) throw problem('document_not_found', 'The run has scored no such document.');
    const { wrong_sha256, ...document } = row;
    const wrong =
      wrong_sha256 === null ? [] : await deps.evaluations.wrongIn(run_id, document_id, wrong_sha256);
    return { run_id, ...document, ...figuresOf(row), wrong: wrong === undefined ? null : [...wrong] };
  },
);

export const cancelEvaluationRun = post(
  '/v1/evaluations/runs/{run_id}/cancel',
  {
    summary: 'Cancel a run that has not ended',
    description:
      'As a batch: what was not begun is not billed. A cancelled run is not scored; one that had ended stays as it is.',
    access: 'any',
    params: runParams,
    reply: {
      status: 200,
      schema: z
        .strictObject({
          run_id: z.string(),
          cancelled: z.boolean().meta({ description: 'false when it was cancelled or had ended before.' }),
        })
        .meta({ id: 'CancelledEvaluationRun' }),
    },
    problems: ['run_not_found', 'busy'],
  },
  async (request, deps) => {
    const { run_id } = request.params;
    const { accepted } = await runOf(deps, request, run_id);
    const done = await deps.batches.cancel(accepted, request.meta);
    if (done.kind === 'problem') throw workFailure(done);
    return { run_id, cancelled: done.cancelled };
  },
);
