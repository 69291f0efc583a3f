import { actorIn } from '../../../domain/kernel/decider.ts';
import { byType, type AuditedEventOf } from '../log/auditedEvent.ts';
import { apiKeys } from '../../../projections/apiKeys.ts';
import { billingConfigs, billingRates } from '../../../projections/billingConfigs.ts';
import { priceLists } from '../../../projections/priceLists.ts';
import { rateLimits } from '../../../projections/rateLimits.ts';
import { savedConfigs } from '../../../projections/savedConfigs.ts';
import { keptRows, type Emit, type ExpectedModel, type ExpectedRow } from './expectedRows.ts';

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
          ...{ ...data, position, made_by: actorIn(metadata) },
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
