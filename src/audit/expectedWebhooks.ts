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
import {
  ALL_TENANT_EVENTS,
  balanceMessages,
  bodyOf,
  type Message,
  messageOf,
  OPERATOR_EVENT_TYPES,
  TEST_EVENT,
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

type WebhookRow = ExpectedRow<typeof webhooks>;

const isForOperators = (type: string): boolean => OPERATOR_EVENT_TYPES.some((one) => one === type);

const settingsOf = ({ events, ...data }: AuditedEventOf<'WebhookCreated' | 'WebhookChanged'>['data']) => ({
  url: data.url,
  description: data.description,
  low_balance_credits: data.low_balance_credits,
  events: events.join(' '),
  for_operators: events.some(isForOperators),
  low_balance_at: data.low_balance_at?.join(' ') ?? null,
});

const isWanted = ({ webhook_id, events, enabled, removed_at }: WebhookRow, message: Message): boolean => {
  const { type } = message;
  if (message.type === TEST_EVENT)
    return message.data.webhook_id === webhook_id && enabled && removed_at === null;
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
  const { id: event_id, position, stream } = event;
  const tested = event.type === 'WebhookTested' ? event.data.delivery_id : undefined;
  const created_at = recordedAt(event);
  return {
    ...noneOf(webhookDeliveries.columns),
    delivery_id: tested ?? deliveryIdOf(event_id, webhook_id, message.type),
    webhook_id,
    tenant_id,
    position,
    event_id,
    event_type: message.type,
    subject: tested ?? stream,
    delivered: false,
    attempts: 0,
    body: bodyOf(message, { at: created_at, tenant_id: tenantToldOf(event) }),
    created_at,
    next_attempt_at: created_at,
    retry_until: triedUntil(created_at),
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
          if (isWanted(row, message)) deliveries.add({ ...deliveryRow(event, row, message), turn });
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
