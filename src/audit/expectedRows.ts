import { operationIdOfDocument } from '../../domain/batch.ts';
import { batchDocuments, batches, batchTags } from '../../projections/batches.ts';
import {
  type AuditedEvent,
  type AuditedEventOf,
  byType,
  type Emit,
  type ExpectedModel,
  type ExpectedRow,
  keptRows,
  noneOf,
  recordedAt,
} from './auditedEvent.ts';
import { operations, operationTags } from '../../projections/operations.ts';
import { artifacts } from '../../projections/artifacts.ts';
import { deployments } from '../../projections/deployments.ts';
import { trainingDocuments, trainingJobs, trainingTags } from '../../projections/trainingJobs.ts';
import { actorIn } from '../../domain/kernel/decider.ts';
import { apiKeys } from '../../projections/apiKeys.ts';
import { billingConfigs, billingRates } from '../../projections/billingConfigs.ts';
import { priceLists } from '../../projections/priceLists.ts';
import { rateLimits } from '../../projections/rateLimits.ts';
import { reviews } from '../../projections/reviews.ts';
import { savedConfigs } from '../../projections/savedConfigs.ts';
import {
  ALL_TENANT_EVENTS,
  balanceMessages,
  bodyOf,
  type Message,
  messageOf,
  OPERATOR_EVENT_TYPES,
  tenantToldOf,
} from '../../domain/webhookMessages.ts';
import { deliveryIdOf, triedUntil } from '../../domain/webhook.ts';
import {
  webhookDeliveries,
  webhookFreePages,
  webhooks,
  webhookTerms,
  webhookUses,
} from '../../projections/webhookRows.ts';

/** A row for each tag of a piece of work. */
const emitTags = (
  emit: Parameters<ExpectedModel['start']>[0],
  into: typeof operationTags | typeof batchTags | typeof trainingTags,
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
            ...{ ...noneOf(batchDocuments.columns), batch_id, index, document_id },
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
      OperationSucceeded: ({ data: { operation_id, outcome, succeeded_at: finished_at } }) =>
        rows.change(operation_id, { status: outcome === 'partial' ? outcome : 'succeeded', finished_at }),
      OperationFailed: ({ data: { operation_id, code: problem_code, failed_at: finished_at } }) =>
        rows.change(operation_id, { status: 'failed', problem_code, finished_at }),
      OperationCancelled: ({ data: { operation_id, cancelled_at: finished_at } }) =>
        rows.change(operation_id, { status: 'cancelled', finished_at }),
      CreditsBurned: ({ data: { operation_id, credits, free_pages, balance_after, created_at } }) =>
        rows.change(works.get(operation_id) ?? '', {
          ...{ credits_charged: credits, free_pages, balance_after, charged_at: created_at },
        }),
    });
    return { apply, finish: rows.emitAll };
  },
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
          ...{ ...noneOf(reviews.columns), review_id, operation_id, tenant_id, position, opened_at },
          ...{ kept_until: days(opened_at, 1), reasons: review.reasons.join(' '), generation: 1 },
        });
      },
      ReviewLeased: ({ data: { review_id, held_by, lease_until } }) =>
        rows.change(review_id, { held_by, lease_until }),
      ReviewDecided: ({ data: { review_id, decided_at, decided_by, absent = null, ...data } }) => {
        const { read, confirmed, corrected } = data;
        rows.change(review_id, {
          ...{ decided_at, decided_by, read, confirmed, corrected, absent, kept_until: days(decided_at, 30) },
          ...{ held_by: null, lease_until: null, rejection: null },
        });
      },
      ReviewRejected: ({ data: { review_id, reason: rejection, rejected_at, rejected_by } }) =>
        rows.change(review_id, {
          ...{ decided_at: rejected_at, decided_by: rejected_by, rejection },
          ...{ held_by: null, lease_until: null },
        }),
      ReviewReopened: ({ data: { review_id, generation } }) =>
        rows.change(review_id, {
          ...{ generation, held_by: null, lease_until: null },
          ...{ decided_at: null, decided_by: null, read: null, confirmed: null, corrected: null },
          ...{ absent: null, rejection: null },
        }),
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
      emit(billingRates, { ...rate, version, effective_at: created_at });
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
          ...{ ...data, tags: data.tags ?? null, position, made_by: actorIn(metadata) },
          ...{ replaced_by: null, rotated_at: null, revoked_at: null },
        }),
      ApiKeyRotated: ({ data: { key_id, replaced_by, expires_at, rotated_at } }) =>
        keys.change(key_id, { replaced_by, expires_at, rotated_at }),
      ApiKeyRevoked: ({ data: { key_id, revoked_at } }) => keys.change(key_id, { revoked_at }),
    });
    return { apply, finish: keys.emitAll };
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

type WebhookRow = ExpectedRow<typeof webhooks>;

const isForOperators = (type: string): boolean => OPERATOR_EVENT_TYPES.some((one) => one === type);

const settingsOf = ({ events, ...data }: AuditedEventOf<'WebhookCreated' | 'WebhookChanged'>['data']) => ({
  ...{ url: data.url, description: data.description, low_balance_credits: data.low_balance_credits },
  ...{ events: events.join(' '), for_operators: events.some(isForOperators) },
  low_balance_at: data.low_balance_at?.join(' ') ?? null,
});

const isWanted = ({ events, enabled, removed_at }: WebhookRow, type: string): boolean => {
  const wanted = events.split(' ');
  const named = wanted.includes(type) || (wanted.includes(ALL_TENANT_EVENTS) && !isForOperators(type));
  return named && enabled && removed_at === null;
};

/** Webhooks by their ID, and those that an event may concern. */
const knownWebhooks = (emit: Emit) => {
  const rows = keptRows(webhooks, emit);
  const byTenant = new Map<string, string[]>();
  const all: string[] = [];
  const apply = byType({
    WebhookCreated: ({ data, position }) => {
      const { webhook_id, tenant_id, created_at } = data;
      const whole = { ...settingsOf(data), webhook_id, tenant_id, position, enabled: true };
      rows.set(webhook_id, { ...noneOf(webhooks.columns), ...whole, created_at, updated_at: created_at });
      byTenant.set(tenant_id, [...(byTenant.get(tenant_id) ?? []), webhook_id]);
      all.push(webhook_id);
    },
    WebhookChanged: ({ data }) => {
      const before = rows.get(data.webhook_id);
      const goesOn = data.url === before?.url && (before.enabled || !data.enabled);
      const failing_since = goesOn ? before.failing_since : null;
      const state = { enabled: data.enabled, disabled_reason: null, failing_since };
      rows.change(data.webhook_id, { ...settingsOf(data), ...state, updated_at: data.changed_at });
    },
    WebhookSecretRotated: ({ data }) => rows.change(data.webhook_id, { updated_at: data.rotated_at }),
    WebhookDisabled: ({ data: { webhook_id, reason: disabled_reason, disabled_at: updated_at } }) =>
      rows.change(webhook_id, { enabled: false, disabled_reason, updated_at }),
    WebhookRemoved: ({ data: { webhook_id, removed_at } }) => rows.change(webhook_id, { removed_at }),
    WebhookDeliveryAttempted: ({ data: { webhook_id, error, attempted_at } }) => {
      const since = rows.get(webhook_id)?.failing_since ?? attempted_at;
      rows.change(webhook_id, { failing_since: error === null ? null : since });
    },
  });
  /** Those that an event of a tenant concerns; one for operators concerns all. */
  const about = (type: string | undefined, tenant: string | null): readonly WebhookRow[] => {
    const ids = type !== undefined && isForOperators(type) ? all : (byTenant.get(tenant ?? '') ?? []);
    return ids.map((id) => rows.get(id)).filter((row) => row !== undefined);
  };
  return { apply, about, finish: rows.emitAll };
};

/** Free pages that were used: the message of the burn that took the last one. */
const freePages = (emit: Emit) => {
  const used = keptRows(webhookFreePages, emit);
  const terms = keptRows(webhookTerms, emit);
  return {
    allow: (pages: number): void => terms.set('free_pages', { term: 'free_pages', pages }),
    use: ({ data, stream, metadata }: AuditedEventOf<'CreditsBurned'>): readonly Message[] => {
      if (data.free_pages === 0) return [];
      const tenant_id = tenantToldOf({ stream, metadata }) ?? '';
      const before = Number(used.get(tenant_id)?.used ?? 0);
      used.set(tenant_id, { tenant_id, used: before + data.free_pages });
      const free_pages = Number(terms.get('free_pages')?.pages ?? 0);
      const isLast = before < free_pages && before + data.free_pages >= free_pages;
      return isLast ? [{ type: 'free_pages.used_up', data: { free_pages } }] : [];
    },
    finish: (): void => {
      used.emitAll();
      terms.emitAll();
    },
  };
};

/** Credits that tenants used by UTC day. */
const usedDays = (emit: Emit) => {
  const rows = new Map<string, Map<string, number>>();
  return {
    add: ({ data: { created_at, credits }, stream, metadata }: AuditedEventOf<'CreditsBurned'>): void => {
      const tenant = tenantToldOf({ stream, metadata }) ?? '';
      const days = rows.get(tenant) ?? new Map<string, number>();
      rows.set(tenant, days);
      const day = created_at.slice(0, 10);
      if (credits > 0) days.set(day, (days.get(day) ?? 0) + credits);
    },
    of: (tenant: string): Iterable<readonly [string, number]> => rows.get(tenant) ?? [],
    finish: (): void => {
      for (const [tenant_id, days] of rows)
        for (const [day, used] of days) emit(webhookUses, { tenant_id, day, used });
    },
  };
};

const deliveryRow = (event: AuditedEvent, { webhook_id, tenant_id }: WebhookRow, message: Message) => {
  const { id: event_id, position, stream: subject } = event;
  const created_at = recordedAt(event);
  return {
    ...noneOf(webhookDeliveries.columns),
    ...{ delivery_id: deliveryIdOf(event_id, webhook_id, message.type), webhook_id, tenant_id },
    ...{ position, event_id, event_type: message.type, subject, delivered: false, attempts: 0 },
    body: bodyOf(message, { at: created_at, tenant_id: tenantToldOf(event) }),
    ...{ created_at, next_attempt_at: created_at, retry_until: triedUntil(created_at) },
  };
};

const knownDeliveries = (emit: Emit) => {
  const rows = keptRows(webhookDeliveries, emit);
  return {
    add: (row: ExpectedRow<typeof webhookDeliveries>): void => rows.set(row.delivery_id, row),
    apply: byType({
      WebhookDeliveryStarted: ({ data: { delivery_id, attempt: attempts } }) =>
        rows.change(delivery_id, { attempts }),
      WebhookDeliveryAttempted: ({ data: { delivery_id, attempt, ...data } }) => {
        const before = rows.get(delivery_id);
        if (before === undefined) return;
        const started = Number(before.attempts);
        const { attempted_at: last_attempt_at, error, response_status } = data;
        if (error !== null && (before.delivered || attempt < started)) return;
        const delivered_at = error === null ? last_attempt_at : before.delivered_at;
        const next_attempt_at = data.next_attempt_at ?? before.next_attempt_at;
        const answer = {
          attempts: Math.max(started, attempt),
          error,
          response_status,
          delivered: error === null,
        };
        rows.change(delivery_id, { ...answer, last_attempt_at, delivered_at, next_attempt_at });
      },
      WebhookDeliveryResent: ({ position, data: { delivery_id, resent_at } }) => {
        const again = { next_attempt_at: resent_at, retry_until: triedUntil(resent_at), delivered: false };
        rows.change(delivery_id, { ...again, position });
      },
      DeliveriesPruned: ({ data: { before, pruned_at, tenant_id: whose } }) => {
        for (const { delivery_id, tenant_id, created_at, delivered, retry_until } of [...rows.values()]) {
          const isPending = !delivered && retry_until > pruned_at;
          const isMeant = created_at < before && (whose === undefined || tenant_id === whose);
          if (isMeant && !isPending) rows.take(delivery_id);
        }
      },
    }),
    finish: rows.emitAll,
  };
};

const levelsOf = ({ low_balance_credits: one, low_balance_at: several }: WebhookRow): readonly number[] => {
  if (several !== null) return several.split(' ').map(Number);
  return one === null ? [] : [Number(one)];
};

/** Webhooks, and what each was to be told. */
export const webhookRows: ExpectedModel = {
  name: 'webhooks',
  tables: [webhooks, webhookDeliveries, webhookFreePages, webhookTerms, webhookUses],
  start: (emit) => {
    const [known, free, deliveries] = [knownWebhooks(emit), freePages(emit), knownDeliveries(emit)];
    const uses = usedDays(emit);
    const tell = (event: AuditedEvent): void => {
      const [own, tenant] = [messageOf(event), tenantToldOf(event)];
      if (event.type === 'CreditsBurned') uses.add(event);
      const told = event.type === 'CreditsBurned' ? free.use(event) : [];
      for (const row of known.about(own?.type, tenant)) {
        const balance = balanceMessages(event, levelsOf(row), () => uses.of(tenant ?? ''));
        const messages = [...(own === undefined ? [] : [own]), ...balance, ...told];
        for (const [turn, message] of messages.entries())
          if (isWanted(row, message.type)) deliveries.add({ ...deliveryRow(event, row, message), turn });
      }
    };
    const apply = (event: AuditedEvent): void => {
      if (event.type === 'BillingConfigPublished') free.allow(event.data.terms.free_pages);
      tell(event);
      known.apply(event);
      deliveries.apply(event);
    };
    const finish = (): void => {
      known.finish();
      free.finish();
      deliveries.finish();
      uses.finish();
    };
    return { apply, finish };
  },
};
