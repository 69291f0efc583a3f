import { operationIdOfDocument } from '../../domain/batch.ts';
import { batchDocuments, batches, batchTags } from '../../projections/batches.ts';
import {
  type AuditedEventOf,
  byType,
  type Emit,
  type ExpectedModel,
  type ExpectedRow,
  keptRows,
  noneOf,
} from './auditedEvent.ts';
import { operations, operationTags } from '../../projections/operations.ts';
import { artifacts } from '../../projections/artifacts.ts';
import { deployments } from '../../projections/deployments.ts';
import { trainingDocuments, trainingJobs, trainingTags } from '../../projections/trainingJobs.ts';
import { actorIn } from '../../domain/kernel/decider.ts';
import { apiKeys } from '../../projections/apiKeys.ts';
import { AT_ONCE, billingConfigs, billingRates } from '../../projections/billingConfigs.ts';
import { priceLists } from '../../projections/billingConfigs.ts';
import { rateLimits } from '../../projections/rateLimits.ts';
import { reviews } from '../../projections/reviews.ts';
import { masterTableContents, masterTables, tableRow } from '../../projections/rules/masterTables.ts';
import { savedConfigs } from '../../projections/savedConfigs.ts';

/** A row for each tag of a piece of work. */
export const emitTags = (
  emit: Parameters<ExpectedModel['start']>[0],
  into: typeof operationTags,
  { tenant_id, work, tags = {} }: { tenant_id: string; work: string; tags?: object | undefined },
): void => {
  for (const [name, value] of Object.entries(tags) as [string, string][])
    emit(into, { tenant_id, name, value, work });
};

const placeOf = (batchId: string, index: number): string => `${batchId}/${String(index)}`;

/** Batches and their documents as they stand. */
export const batchRows: ExpectedModel = {
  name: 'batches',
  tables: [batches, batchDocuments, batchTags],
  start: (emit) => {
    const rows = keptRows(batches, emit);
    const documents = keptRows(batchDocuments, emit);
    const apply = byType({
      BatchAccepted: ({ data, position }) => {
        const { batch_id, tenant_id, document_ids } = data;
        const counts = { documents: document_ids.length, begun: 0 };
        const tags = data.tags ?? null;
        rows.set(batch_id, { ...noneOf(batches.columns), ...data, tags, position, ...counts });
        emitTags(emit, batchTags, { ...data, work: batch_id });
        for (const [index, document_id] of document_ids.entries())
          documents.set(placeOf(batch_id, index), {
            ...noneOf(batchDocuments.columns),
            batch_id,
            index,
            document_id,
            operation_id: operationIdOfDocument({ tenant_id, batch_id, index }),
          });
      },
      BatchDocumentsBegun: ({ data: { batch_id, first, count, begun_at } }) => {
        const started_at = rows.get(batch_id)?.started_at ?? begun_at;
        rows.change(batch_id, { begun: first + count, started_at });
        for (let index = first; index < first + count; index += 1)
          documents.change(placeOf(batch_id, index), { begun_at });
      },
      BatchDocumentsRefused: ({ data: { batch_id, refused } }) => {
        for (const { index, code: problem_code } of refused)
          documents.change(placeOf(batch_id, index), { problem_code });
      },
      BatchCancelled: ({ data: { batch_id, cancelled_at } }) => rows.change(batch_id, { cancelled_at }),
      BatchEnded: ({ data: { batch_id, tenant_id: _, tags: __, ended_at: finished_at, ...came } }) =>
        rows.change(batch_id, { ...came, finished_at }),
    });
    const finish = () => {
      rows.emitAll();
      documents.emitAll();
    };
    return { apply, finish };
  },
};

/** Operations as they stand. */
export const operationRows: ExpectedModel = {
  name: 'operations',
  tables: [operations, operationTags],
  start: (emit) => {
    const rows = keptRows(operations, emit);
    /** Operations by their work, which burns name. */
    const works = new Map<string, string>();
    const apply = byType({
      OperationAccepted: ({ data, position }) => {
        const waits = { status: 'queued', attempt: 0, ready_at: data.accepted_at, hold_closed: false };
        const file_bytes = data.file_bytes ?? 0;
        rows.set(data.operation_id, {
          ...noneOf(operations.columns),
          ...data,
          file_bytes,
          tags: data.tags ?? null,
          position,
          ...waits,
        });
        works.set(data.work_id, data.operation_id);
        emitTags(emit, operationTags, { ...data, work: data.operation_id });
      },
      OperationStarted: ({ data: { operation_id, attempt, lease_until: ready_at, ...data } }) => {
        const started_at = rows.get(operation_id)?.started_at ?? data.started_at;
        rows.change(operation_id, { status: 'running', attempt, ready_at, started_at });
      },
      OperationProgressed: ({ data: { operation_id, gave_up, lease_until: ready_at } }) =>
        rows.change(operation_id, { status: gave_up === null ? 'running' : 'queued', ready_at }),
      OperationSucceeded: ({ data: { operation_id, outcome, succeeded_at: finished_at, then_batch_id } }) =>
        rows.change(operation_id, {
          status: outcome === 'partial' ? outcome : 'succeeded',
          finished_at,
          then_batch_id: then_batch_id ?? null,
        }),
      OperationFailed: ({ data: { operation_id, code: problem_code, failed_at: finished_at } }) =>
        rows.change(operation_id, { status: 'failed', problem_code, finished_at }),
      OperationCancelled: ({ data: { operation_id, cancelled_at: finished_at } }) =>
        rows.change(operation_id, { status: 'cancelled', finished_at }),
      CreditsBurned: ({ data: { operation_id, credits, free_pages, balance_after, created_at } }) =>
        rows.change(works.get(operation_id) ?? '', {
          credits_charged: credits,
          free_pages,
          balance_after,
          charged_at: created_at,
        }),
    });
    return { apply, finish: rows.emitAll };
  },
};

/** A review that nobody holds, and one that has no decision. */
const NOT_HELD = { held_by: null, lease_until: null };
const UNDECIDED = {
  decided_at: null,
  decided_by: null,
  read: null,
  confirmed: null,
  corrected: null,
  absent: null,
  rejection: null,
  then_batch_id: null,
};

/** Reviews as they stand. Kept for a day, and for thirty days once they were decided. */
export const reviewRows: ExpectedModel = {
  name: 'reviews',
  tables: [reviews],
  start: (emit) => {
    const rows = keptRows(reviews, emit);
    const days = (at: string, count: number) =>
      new Date(Date.parse(at) + count * 24 * 3_600_000).toISOString();
    const apply = byType({
      OperationSucceeded: ({ data, position }) => {
        const { operation_id, tenant_id, review, succeeded_at: opened_at } = data;
        if (review === undefined) return;
        const review_id = operation_id.replace(/^[a-z]+_/, 'rev_');
        rows.set(review_id, {
          ...noneOf(reviews.columns),
          review_id,
          operation_id,
          tenant_id,
          position,
          opened_at,
          kept_until: days(opened_at, 1),
          reasons: review.reasons.join(' '),
          least_confidence:
            review.least_confidence === undefined ? null : Math.round(review.least_confidence * 1e4),
          generation: 1,
        });
      },
      ReviewLeased: ({ data: { review_id, held_by, lease_until } }) =>
        rows.change(review_id, { held_by, lease_until }),
      ReviewDecided: ({ data: { review_id, decided_at, decided_by, absent = null, ...data } }) => {
        const { read, confirmed, corrected, then_batch_id = null } = data;
        rows.change(review_id, {
          decided_at,
          decided_by,
          read,
          confirmed,
          corrected,
          absent,
          kept_until: days(decided_at, 30),
          ...NOT_HELD,
          rejection: null,
          then_batch_id,
        });
      },
      ReviewRejected: ({ data: { review_id, reason: rejection, rejected_at, rejected_by } }) =>
        rows.change(review_id, { decided_at: rejected_at, decided_by: rejected_by, rejection, ...NOT_HELD }),
      ReviewReopened: ({ data: { review_id, generation } }) =>
        rows.change(review_id, { generation, ...NOT_HELD, ...UNDECIDED }),
    });
    return { apply, finish: rows.emitAll };
  },
};

const queuedRow = ({ data, position }: AuditedEventOf<'TrainingJobCreated'>) => ({
  ...noneOf(trainingJobs.columns),
  ...data,
  tags: data.tags ?? null,
  position,
  status: 'queued',
  attempt: 0,
  ready_at: data.created_at,
  hold_closed: false,
});

/** Training jobs as they stand, and the documents they learn from. */
export const trainingJobRows: ExpectedModel = {
  name: 'training_jobs',
  tables: [trainingJobs, trainingDocuments, trainingTags],
  start: (emit) => {
    const jobs = keptRows(trainingJobs, emit);
    const apply = byType({
      TrainingJobCreated: (event) => {
        const { job_id, tenant_id, document_ids } = event.data;
        for (const document_id of new Set(document_ids ?? ['']))
          emit(trainingDocuments, { document_id, job_id, tenant_id });
        jobs.set(job_id, queuedRow(event));
        emitTags(emit, trainingTags, { ...event.data, work: job_id });
      },
      TrainingJobStarted: ({ data: { job_id, attempt, lease_until: ready_at, ...data } }) => {
        const started_at = jobs.get(job_id)?.started_at ?? data.started_at;
        jobs.change(job_id, { status: 'running', attempt, ready_at, started_at });
      },
      TrainingJobProgressed: ({ data: { job_id, gave_up, lease_until: ready_at } }) =>
        jobs.change(job_id, { status: gave_up === null ? 'running' : 'queued', ready_at }),
      TrainingJobSucceeded: ({ data: { job_id, artifact_id, succeeded_at: finished_at } }) =>
        jobs.change(job_id, { status: 'succeeded', artifact_id, finished_at }),
      TrainingJobFailed: ({ data: { job_id, code: problem_code, failed_at: finished_at } }) =>
        jobs.change(job_id, { status: 'failed', problem_code, finished_at }),
      TrainingJobCancelled: ({ data: { job_id, cancelled_at: finished_at } }) =>
        jobs.change(job_id, { status: 'cancelled', finished_at }),
      CreditsBurned: ({ data: { operation, operation_id, credits: credits_charged } }) => {
        if (operation === 'training') jobs.change(operation_id, { credits_charged });
      },
    });
    return { apply, finish: jobs.emitAll };
  },
};

/** Artifacts, and which of them may be used. */
export const artifactRows: ExpectedModel = {
  name: 'artifacts',
  tables: [artifacts],
  start: (emit) => {
    const rows = keptRows(artifacts, emit);
    const apply = byType({
      ArtifactPublished: ({ data, position }) => {
        const { baseline_score, best_score, per_field } = data;
        const scores = { baseline_score, best_score, per_field };
        rows.set(data.artifact_id, { ...data, position, scores, is_usable: false });
      },
      TrainingJobSucceeded: ({ data }) => rows.change(data.artifact_id, { is_usable: true }),
    });
    return { apply, finish: rows.emitAll };
  },
};

/** Deployments, serving and retired. */
export const deploymentRows: ExpectedModel = {
  name: 'deployments',
  tables: [deployments],
  start: (emit) => {
    const rows = keptRows(deployments, emit);
    const apply = byType({
      DeploymentActivated: ({ position, data: { rollout, ...data } }) =>
        rows.set(data.deployment_id, { ...data, ...rollout, position, retired_at: null }),
      DeploymentRetired: ({ data: { deployment_id, retired_at } }) =>
        rows.change(deployment_id, { retired_at }),
    });
    return { apply, finish: rows.emitAll };
  },
};

const finish = (): void => undefined;

/** Published price lists. */
export const priceListRows: ExpectedModel = {
  name: 'price_lists',
  tables: [priceLists],
  start: (emit) => ({ apply: byType({ PriceListPublished: ({ data }) => emit(priceLists, data) }), finish }),
};

const emitConfig =
  (emit: Emit) =>
  (event: AuditedEventOf<'BillingConfigPublished' | 'BillingRateSet'>): void => {
    const { version, created_at, created_by } = event.data;
    const isWhole = event.type === 'BillingConfigPublished';
    const [terms, note] = isWhole ? [event.data.terms, event.data.note] : [null, null];
    emit(billingConfigs, { version, terms, all_rates: isWhole, note, created_at, created_by });
    for (const rate of isWhole ? event.data.rates : [event.data.rate])
      emit(billingRates, {
        ...rate,
        completion_window: rate.completion_window ?? AT_ONCE,
        version,
        effective_at: created_at,
      });
  };

/** Billing configs and the rates that each set. */
export const billingConfigRows: ExpectedModel = {
  name: 'billing_configs',
  tables: [billingConfigs, billingRates],
  start: (emit) => {
    const publish = emitConfig(emit);
    return { apply: byType({ BillingConfigPublished: publish, BillingRateSet: publish }), finish };
  },
};

const limitsRow = ({
  tenant_id,
  heavy,
  general,
  updated_at,
  updated_by,
}: AuditedEventOf<'RateLimitsOverridden'>['data']): ExpectedRow<typeof rateLimits> => ({
  tenant_id,
  heavy_rate: heavy?.rate_per_second ?? null,
  heavy_burst: heavy?.burst ?? null,
  general_rate: general?.rate_per_second ?? null,
  general_burst: general?.burst ?? null,
  updated_at,
  updated_by,
});

/** Tenants' own rate limits. */
export const rateLimitRows: ExpectedModel = {
  name: 'rate_limits',
  tables: [rateLimits],
  start: (emit) => {
    const rows = keptRows(rateLimits, emit);
    const apply = byType({
      RateLimitsReset: ({ data }) => void rows.take(data.tenant_id),
      RateLimitsOverridden: ({ data }) => rows.set(data.tenant_id, limitsRow(data)),
    });
    return { apply, finish: rows.emitAll };
  },
};

/** API keys. */
export const apiKeyRows: ExpectedModel = {
  name: 'api_keys',
  tables: [apiKeys],
  start: (emit) => {
    const keys = keptRows(apiKeys, emit);
    const apply = byType({
      ApiKeyIssued: ({ data, position, metadata }) =>
        keys.set(data.key_id, {
          ...data,
          tags: data.tags ?? null,
          position,
          made_by: actorIn(metadata),
          replaced_by: null,
          rotated_at: null,
          revoked_at: null,
        }),
      ApiKeyRotated: ({ data: { key_id, replaced_by, expires_at, rotated_at } }) =>
        keys.change(key_id, { replaced_by, expires_at, rotated_at }),
      ApiKeyRevoked: ({ data: { key_id, revoked_at } }) => keys.change(key_id, { revoked_at }),
    });
    return { apply, finish: keys.emitAll };
  },
};

/** The latest version of each table that was not removed, and what all its versions keep. */
export const masterTableRows: ExpectedModel = {
  name: 'master_tables',
  tables: [masterTables, masterTableContents],
  start: (emit) => {
    const tables = keptRows(masterTables, emit);
    const contents = new Map<string, Map<string, number>>();
    const apply = byType({
      TablePublished: ({ data, position }) => {
        const { table_id, sha256, bytes } = data;
        tables.set(table_id, tableRow({ data, position }));
        contents.set(table_id, (contents.get(table_id) ?? new Map<string, number>()).set(sha256, bytes));
      },
      TableRemoved: ({ data }) => {
        tables.take(data.table_id);
        contents.delete(data.table_id);
      },
    });
    const finish = () => {
      for (const [table_id, kept] of contents)
        for (const [sha256, bytes] of kept)
          emit(masterTableContents, {
            table_id,
            sha256,
            tenant_id: tables.get(table_id)?.tenant_id ?? '',
            bytes,
          });
      tables.emitAll();
    };
    return { apply, finish };
  },
};

/** The latest version of each saved config that was not revoked. */
export const savedConfigRows: ExpectedModel = {
  name: 'saved_configs',
  tables: [savedConfigs],
  start: (emit) => {
    const configs = keptRows(savedConfigs, emit);
    const apply = byType({
      ConfigPublished: ({ data, position }) => {
        const { config_id, tenant_id, version } = data;
        configs.set(config_id, { config_id, tenant_id, position, version, latest: JSON.stringify(data) });
      },
      ConfigRevoked: ({ data }) => void configs.take(data.config_id),
    });
    return { apply, finish: configs.emitAll };
  },
};
