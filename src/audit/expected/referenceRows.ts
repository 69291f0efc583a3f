import type { AuditedEvent, AuditedEventOf } from '../log/auditedEvent.ts';
import { apiKeys } from '../../../projections/apiKeys/apiKeys.schema.ts';
import { billingConfigs, billingRates } from '../../../projections/billingConfigs/billingConfigs.schema.ts';
import { priceLists } from '../../../projections/priceLists/priceLists.schema.ts';
import { rateLimits } from '../../../projections/rateLimits/rateLimits.schema.ts';
import {
  change,
  emitAll,
  type Emit,
  type ExpectedModel,
  type ExpectedRow,
  type ExpectedRows,
} from './expectedRows.ts';

const atOnce = (apply: (event: AuditedEvent, emit: Emit) => void): ReturnType<ExpectedModel['start']> => ({
  apply,
  finish: () => undefined,
});

/** Published price lists. */
export const priceListRows: ExpectedModel = {
  name: 'price_lists',
  tables: [priceLists],
  start: () =>
    atOnce((event, emit) => {
      if (event.type === 'PriceListPublished') emit(priceLists, event.data);
    }),
};

const emitConfig = (event: AuditedEventOf<'BillingConfigPublished' | 'BillingRateSet'>, emit: Emit): void => {
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
  start: () => {
    const rows: ExpectedRows<typeof rateLimits> = new Map();
    return {
      apply: (event) => {
        if (event.type === 'RateLimitsReset') rows.delete(event.data.tenant_id);
        if (event.type === 'RateLimitsOverridden') rows.set(event.data.tenant_id, limitsRow(event.data));
      },
      finish: (emit) => emitAll(rows, rateLimits, emit),
    };
  },
};

const keyMoves = (keys: ExpectedRows<typeof apiKeys>, event: AuditedEvent): void => {
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
      change(keys, key_id, { replaced_by, expires_at, rotated_at });
      return;
    }
    case 'ApiKeyRevoked':
      change(keys, event.data.key_id, { revoked_at: event.data.revoked_at });
      return;
    default:
  }
};

/** API keys. */
export const apiKeyRows: ExpectedModel = {
  name: 'api_keys',
  tables: [apiKeys],
  start: () => {
    const keys: ExpectedRows<typeof apiKeys> = new Map();
    return {
      apply: (event) => keyMoves(keys, event),
      finish: (emit) => emitAll(keys, apiKeys, emit),
    };
  },
};
