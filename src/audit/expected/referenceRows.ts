import type { AuditedEvent, AuditedEventOf } from '../log/auditedEvent.ts';
import { emitAll, type Emit, type ExpectedModel, type ExpectedRow } from './expectedRows.ts';

const atOnce = (apply: (event: AuditedEvent, emit: Emit) => void): ReturnType<ExpectedModel['start']> => ({
  apply,
  finish: () => undefined,
});

/** Published price lists. */
export const priceListRows: ExpectedModel = {
  name: 'price_lists',
  tables: ['price_lists'],
  start: () =>
    atOnce((event, emit) => {
      if (event.type === 'PriceListPublished') emit('price_lists', { ...event.data });
    }),
};

const emitConfig = (event: AuditedEventOf<'BillingConfigPublished' | 'BillingRateSet'>, emit: Emit): void => {
  const { version, created_at, created_by } = event.data;
  const isWhole = event.type === 'BillingConfigPublished';
  const [terms, note] = isWhole ? [event.data.terms, event.data.note] : [null, null];
  emit('billing_configs', { version, terms, all_rates: isWhole, note, created_at, created_by });
  for (const rate of isWhole ? event.data.rates : [event.data.rate])
    emit('billing_rates', { ...rate, version, effective_at: created_at });
};

/** Billing configs and the rates that each set. */
export const billingConfigRows: ExpectedModel = {
  name: 'billing_configs',
  tables: ['billing_configs', 'billing_rates'],
  start: () =>
    atOnce((event, emit) => {
      if (event.type === 'BillingConfigPublished' || event.type === 'BillingRateSet') emitConfig(event, emit);
    }),
};

const limitsRow = ({
  tenant_id,
  heavy,
  general,
  updated_at,
  updated_by,
}: AuditedEventOf<'RateLimitsOverridden'>['data']): ExpectedRow => ({
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
  tables: ['rate_limits'],
  start: () => {
    const rows = new Map<string, ExpectedRow>();
    return {
      apply: (event) => {
        if (event.type === 'RateLimitsReset') rows.delete(event.data.tenant_id);
        if (event.type === 'RateLimitsOverridden') rows.set(event.data.tenant_id, limitsRow(event.data));
      },
      finish: (emit) => emitAll(rows, 'rate_limits', emit),
    };
  },
};

const keyMoves = (keys: Map<string, ExpectedRow>, event: AuditedEvent): void => {
  switch (event.type) {
    case 'ApiKeyIssued':
      keys.set(event.data.key_id, {
        ...event.data,
        position: event.position,
        replaced_by: null,
        rotated_at: null,
        revoked_at: null,
      });
      return;
    case 'ApiKeyRotated': {
      const { key_id, replaced_by, expires_at, rotated_at } = event.data;
      const key = keys.get(key_id);
      if (key !== undefined) keys.set(key_id, { ...key, replaced_by, expires_at, rotated_at });
      return;
    }
    case 'ApiKeyRevoked': {
      const { key_id, revoked_at } = event.data;
      const key = keys.get(key_id);
      if (key !== undefined) keys.set(key_id, { ...key, revoked_at });
      return;
    }
    default:
  }
};

/** API keys. */
export const apiKeyRows: ExpectedModel = {
  name: 'api_keys',
  tables: ['api_keys'],
  start: () => {
    const keys = new Map<string, ExpectedRow>();
    return {
      apply: (event) => keyMoves(keys, event),
      finish: (emit) => emitAll(keys, 'api_keys', emit),
    };
  },
};
