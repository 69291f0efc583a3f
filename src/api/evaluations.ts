import { z } from 'zod';
import { jobIdOfArtifact } from '../../domain/trainingJob.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { EvaluationRunRow } from '../../projections/evaluations.ts';
import type { BatchCommands } from '../commands/batches.ts';
import type { PipelineCommands } from '../commands/deployments.ts';
import {
  type acceptRun,
  type EvaluationReport,
  figuresOf,
  findRun,
  type KnownRun,
  type WrongValue,
} from '../commands/evaluations.ts';
import type { extractByFields } from '../commands/extract.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import { type AnyRequest, KEPT_A_DAY, type RawBody, routesOver } from '../server/routes.ts';
import { workerOf } from '../server/keys.ts';
import { problem, workFailure } from '../server/problems.ts';
import { settleReads } from '../server/answers.ts';
import { checkKnown, pageFacts, pageOf, plainText } from './schemas/basics.ts';
import { ownSight } from './evaluationSets.ts';
import { BATCH_PROBLEMS, looseChannel } from './work.ts';
import {
  acceptedRun,
  runBody,
  runDocument,
  runItem,
  runParams,
  runRequest,
  runsQuery,
  runStatus,
} from './schemas/evaluationSchemas.ts';
import { CHANNEL_MEMBERS } from './schemas/workSchemas.ts';

/** What routes call for runs. */
export interface RunCommands {
  readonly accept: ReturnType<typeof acceptRun>;
  readonly reportOf: (runId: string, digest: string) => Promise<EvaluationReport | undefined>;
  readonly schemaOf: (runId: string, digest: string) => Promise<JsonObject | undefined>;
  readonly wrongIn: (
    runId: string,
    documentId: string,
    digest: string,
  ) => Promise<readonly WrongValue[] | undefined>;
  /** The file of a document that was uploaded; undefined: no longer kept. */
  readonly fileOf: (documentId: string) => Promise<RawBody['body'] | undefined>;
}

/** What these routes need. */
export interface EvaluationsDeps {
  readonly runs: RunCommands;
  readonly batches: BatchCommands;
  readonly extract: ReturnType<typeof extractByFields>;
  readonly pipelines: Pick<PipelineCommands, 'jobs'>;
  readonly queries: Pick<
    Queries,
    'balanceOfTenant' | 'evaluationRunsOfTenant' | 'evaluationRun' | 'runBefore' | 'documentsByIds'
  >;
  readonly reads: ReadYourWrites;
}

const { get, post } = routesOver<EvaluationsDeps>();

const runOf = async (
  { batches }: Pick<EvaluationsDeps, 'batches'>,
  request: Pick<AnyRequest, 'caller'>,
  runId: string,
): Promise<KnownRun> => {
  const run = await findRun(batches.streams, ownSight(request), runId);
  if (run === undefined) throw problem('run_not_found', 'There is no such run.');
  return run;
};

const NO_CHANNEL = looseChannel({}, { members: CHANNEL_MEMBERS, at: (member) => ['body', member] });

export const createEvaluationRun = post(
  '/v1/evaluations/runs',
  {
    summary: 'Measure a config, an artifact or a schema with a set of examples',
    description:
      'The documents of the set are extracted as a batch, billed as usual, and compared with their correct values. ' +
      'With the same `Idempotency-Key` there is only one run.',
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
    const { schema, mode, artifact_id, config_id, set_id, tags } = request.body;
    const { idempotency_key, fingerprint, caller, signal } = request;
    const fields = {
      schema,
      mode,
      artifact_id,
      config_id,
      allow_partial: true,
      citations: true,
      min_confidence: undefined,
      // What its config leaves to people counts as it was read: nobody is asked.
      review: {},
    };
    const channels = { llm: NO_CHANNEL, ocr: NO_CHANNEL, channelPaths: () => ['body', 'config_id'] };
    const accepted = await deps.runs.accept(
      {
        set_id,
        tenant_id: request.tenant_id,
        caller: workerOf(caller),
        tags,
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
      run_id: accepted.run_id,
      batch_id,
      set_id,
      set_version,
      status: 'queued' as const,
      documents: document_ids.length,
      accepted_at,
    };
  },
);

type RunItem = z.input<typeof runItem>;

const rounded = (change: number): number => Math.round(change * 10_000) / 10_000;

const changeOf = (now: number | null, before: number | null | undefined): number | null =>
  now === null || before == null ? null : rounded(now - before);

const countsOf = ({ tp, fp, fn }: Pick<EvaluationRunRow, 'tp' | 'fp' | 'fn'>) => ({
  tp: tp ?? 0,
  fp: fp ?? 0,
  fn: fn ?? 0,
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
    run_id,
    batch_id,
    tenant_id,
    set_id,
    set_version,
    config_id,
    config_version,
    artifact_id,
    mode,
    schema_sha256,
    examples: await examplesOf(deps, artifact_id),
    documents: row.documents,
    status: runStatus.parse(row.status),
    scored,
    left_out,
    ...figuresOf(countsOf(row)),
    pages: row.pages,
    credits_used: credits_charged,
    accepted_at: row.accepted_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
    scored_at: row.scored_at,
  };
};

export const listEvaluationRuns = get(
  '/v1/evaluations/runs',
  {
    summary: 'The runs of a tenant, newest first',
    description: 'Scores by field and by document are in `GET /v1/evaluations/runs/{run_id}`.',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    query: runsQuery,
    reply: { status: 200, schema: pageOf(runItem, 'EvaluationRunList') },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ query }, deps) => {
    const { tenant_id } = query;
    const found = await deps.queries.evaluationRunsOfTenant(query);
    await checkKnown(deps, tenant_id, { isEmpty: found.total === 0 });
    const items = await Promise.all(found.items.map((row) => itemOf(deps, row)));
    return { items, ...pageFacts(query, found) };
  },
);

/** A run with its report; an empty one until it is scored. */
interface Reported {
  readonly row: EvaluationRunRow;
  readonly report: EvaluationReport;
}

const reportedOf = async (
  { runs }: EvaluationsDeps,
  row: EvaluationRunRow | undefined,
): Promise<Reported | undefined> => {
  if (row === undefined) return undefined;
  const { run_id, report_sha256 } = row;
  const report = report_sha256 === null ? undefined : await runs.reportOf(run_id, report_sha256);
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

/** A run as the read models have it; 503 if they are still behind. */
const rowOf = async (
  deps: EvaluationsDeps,
  request: Pick<AnyRequest, 'answer' | 'caller'>,
  runId: string,
): Promise<EvaluationRunRow> => {
  const { accepted } = await runOf(deps, request, runId);
  await settleReads(deps.reads, request, accepted.tenant_id);
  const row = await deps.queries.evaluationRun(runId);
  if (row === undefined) throw problem('not_ready', 'The read models do not have this run yet. Ask again.');
  return row;
};

export const getEvaluationRun = get(
  '/v1/evaluations/runs/{run_id}',
  {
    summary: 'A run: overall, by field, by document',
    description:
      'Poll until `status` is `succeeded` or `cancelled`. Changes are relative to the previous run of the same set. ' +
      'The wrong values of a document are in `GET /v1/evaluations/runs/{run_id}/documents/{document_id}`.',
    access: 'any',
    params: runParams,
    reply: { status: 200, schema: runBody },
    problems: ['run_not_found', 'storage_error', 'not_ready'],
  },
  async (request, deps) => {
    const { run_id } = request.params;
    const row = await rowOf(deps, request, run_id);
    const now = await reportedOf(deps, row);
    if (now === undefined) throw new Error('a run that is there has no report');
    const isScored = row.scored_at !== null;
    const named = await deps.queries.documentsByIds(
      now.report.documents.map(({ document_id }) => document_id),
    );
    const names = new Map(named.map(({ document_id, file_name }) => [document_id, file_name]));
    const before = isScored ? await reportedOf(deps, await deps.queries.runBefore(row)) : undefined;
    return {
      ...(await itemOf(deps, row)),
      schema: (await deps.runs.schemaOf(run_id, row.schema_sha256)) ?? null,
      calibration: now.report.calibration,
      per_field: fieldsOf(now, before),
      per_document: documentsOf(now, before).map((one) => ({
        ...one,
        file_name: names.get(one.document_id) ?? null,
      })),
      previous: previousOf(now, before),
    };
  },
);

export const getEvaluationRunDocument = get(
  '/v1/evaluations/runs/{run_id}/documents/{document_id}',
  {
    summary: 'What was wrong in a document of a run',
    description:
      'Each value that differs from the correct one, with the place where it was read and its confidence.',
    access: 'any',
    params: z.object({ run_id: plainText(1, 128), document_id: plainText(1, 128) }),
    reply: { status: 200, schema: runDocument },
    problems: ['run_not_found', 'document_not_found', 'storage_error', 'not_ready'],
  },
  async (request, deps) => {
    const { run_id, document_id } = request.params;
    const found = await reportedOf(deps, await rowOf(deps, request, run_id));
    const row = found?.report.documents.find((one) => one.document_id === document_id);
    if (row === undefined) throw problem('document_not_found', 'The run has scored no such document.');
    const { wrong_sha256, ...document } = row;
    const wrong = wrong_sha256 === null ? [] : await deps.runs.wrongIn(run_id, document_id, wrong_sha256);
    const [known] = await deps.queries.documentsByIds([document_id]);
    const { file_name = null, mime_type, erased_at = null } = known ?? {};
    const named = { file_name, mime_type: erased_at === null ? (mime_type ?? null) : null };
    return {
      run_id,
      ...document,
      ...named,
      ...figuresOf(row),
      wrong: wrong === undefined ? null : [...wrong],
    };
  },
);

export const getEvaluationRunFile = get(
  '/v1/evaluations/runs/{run_id}/documents/{document_id}/file',
  {
    summary: 'The file of a document of a run',
    description: 'The bytes as they were uploaded, for as long as the file is kept.',
    access: 'any',
    params: z.object({ run_id: plainText(1, 128), document_id: plainText(1, 128) }),
    reply: { status: 200, contentType: 'application/octet-stream' },
    problems: ['run_not_found', 'document_not_found', 'storage_error'],
  },
  async (request, deps): Promise<RawBody> => {
    const { run_id, document_id } = request.params;
    const { accepted } = await runOf(deps, request, run_id);
    const isItsOwn = accepted.document_ids.includes(document_id);
    const body = isItsOwn ? await deps.runs.fileOf(document_id) : undefined;
    if (body === undefined)
      throw problem('document_not_found', 'The run has no such document, or it is gone.');
    request.answer.header('Content-Disposition', 'attachment');
    return { contentType: 'application/octet-stream', body };
  },
);

export const cancelEvaluationRun = post(
  '/v1/evaluations/runs/{run_id}/cancel',
  {
    summary: 'Cancel a run that has not ended',
    description:
      'As with a batch, documents that were not begun are not billed. A cancelled run is not scored; a run that had ' +
      'ended does not change.',
    access: 'any',
    params: runParams,
    reply: {
      status: 200,
      schema: z
        .strictObject({
          run_id: z.string(),
          cancelled: z.boolean().meta({ description: 'false if it was already cancelled or had ended.' }),
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
