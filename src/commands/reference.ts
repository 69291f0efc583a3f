import {
  priceFor,
  PROVIDER_PRICING_STREAM,
  providerPricing,
  providerPricingEvent,
  type ModelPrices,
  type PublishedPrice,
  type ProviderPricingCommand,
  type ProviderPricingKind,
  type ProviderPricingState,
} from '../../domain/modelPrices.ts';
import {
  activeBillingConfig,
  BILLING_CONFIG_STREAM,
  billingConfig,
  billingConfigEvent,
  type BillingConfig,
  type BillingConfigCommand,
  type BillingConfigKind,
  type BillingConfigState,
  type BillingRate,
  isSameRate,
  type TermsChange,
} from '../../domain/billingConfig.ts';
import {
  activePriceList,
  PRICE_LIST_STREAM,
  priceList,
  priceListEvent,
  type PriceListKind,
  type PriceListState,
  type PublishPriceList,
} from '../../domain/priceList.ts';
import { modeOf, ratedMode, rateOf } from '../../domain/rating.ts';
import {
  type BillingType,
  type CompletionWindow,
  type RatedOperation,
  withWindow,
} from '../../domain/account/messages.ts';
import type { AnyKind, CommandMeta, Decider } from '../../domain/kernel/decider.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import { misfit } from './workProblem.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import {
  FX_RATES_STREAM,
  fxRates,
  fxRatesEvent,
  type FxRatesCommand,
  type FxRatesKind,
  type FxRatesState,
} from '../../domain/fxRates.ts';
import { eventCodec, type Codec } from '../../domain/kernel/codec.ts';
import { deterministicEventId } from '../../domain/kernel/chain.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import { cachedStream } from '../writer/streamFold.ts';
import { SYSTEM } from '../writer/commandMeta.ts';
import { commandHandler, type HandlerOptions } from '../writer/commandHandler.ts';

/** Prices that were left out are null from here on. */
export const pricesWithNulls = (body: {
  readonly input_usd_per_million_tokens: string;
  readonly output_usd_per_million_tokens: string;
  readonly cached_input_usd_per_million_tokens?: string | null | undefined;
  readonly usd_per_page?: string | null | undefined;
}): ModelPrices => ({
  input_usd_per_million_tokens: body.input_usd_per_million_tokens,
  output_usd_per_million_tokens: body.output_usd_per_million_tokens,
  cached_input_usd_per_million_tokens: body.cached_input_usd_per_million_tokens ?? null,
  usd_per_page: body.usd_per_page ?? null,
});

/** IDs of the prices in force at `now`, one for each provider and model; `prices` in the order published. */
export const currentPrices = (prices: readonly PublishedPrice[], now: string): ReadonlySet<string> => {
  const current = new Set<string>();
  for (const { provider, model_name } of prices) {
    if (provider === null) continue;
    const price = priceFor(prices, { provider, model_name, occurred_at: now });
    if (price !== undefined) current.add(price.price_id);
  }
  return current;
};

const pricesOf = (price: ModelPrices): ModelPrices => ({
  input_usd_per_million_tokens: price.input_usd_per_million_tokens,
  output_usd_per_million_tokens: price.output_usd_per_million_tokens,
  cached_input_usd_per_million_tokens: price.cached_input_usd_per_million_tokens,
  usd_per_page: price.usd_per_page,
});

/** An item of `ProviderPricingResponse`. */
export const providerPriceItem = (price: PublishedPrice, current: ReadonlySet<string>) => ({
  id: price.price_id,
  provider: price.provider ?? '',
  model_name: price.model_name,
  ...pricesOf(price),
  effective_from: price.effective_from,
  current: current.has(price.price_id),
  created_at: price.created_at,
});

/** `PricingResponse` of a model as it was asked for. */
export const pricingAnswer = (model_name: string, price: PublishedPrice) => {
  const named = model_name.includes('/') ? (model_name.split('/', 1)[0] ?? null) : null;
  return {
    model_name,
    provider: price.provider ?? named,
    ...pricesOf(price),
    source: price.provider === null ? ('model_pricing' as const) : ('provider_pricing' as const),
    updated_at: price.created_at,
  };
};

/** Thrown while nothing has been published yet: the first start publishes a price list and a billing config. */
export class NotPublished extends Error {
  override readonly name = 'NotPublished';
}

/** The billing config in force, of a state that was just read or written. */
export const newestConfig = (state: BillingConfigState): BillingConfig => {
  const config = activeBillingConfig(state);
  if (config === undefined) throw new NotPublished('No billing config has been published yet.');
  return config;
};

/** The billing config in force. */
export const activeConfig = async (reference: Pick<ReferenceData, 'billingConfig'>): Promise<BillingConfig> =>
  newestConfig(await reference.billingConfig());

/** The version since which a rate is what it is in `version`. */
const since = ({ versions }: BillingConfigState, version: number, rate: BillingRate) => {
  let from = versions[version - 1];
  for (let at = version - 2; at >= 0; at -= 1) {
    const earlier = versions[at];
    const same = earlier?.rates.find((one) => isSameRate(one, rate));
    if (same?.credits_per_page !== rate.credits_per_page) break;
    from = earlier;
  }
  return from;
};

/** All rates of one version (`BillingRateItem`), each with the version that it stands in unchanged since. */
export const ratesSince = (state: BillingConfigState, { version, rates, created_at }: BillingConfig) =>
  rates.map((rate) => {
    const from = since(state, version, rate);
    return {
      ...rate,
      completion_window: rate.completion_window ?? null,
      billing_config_version: from?.version ?? version,
      effective_at: from?.created_at ?? created_at,
    };
  });

/** A version of the billing config (`BillingConfigResponse`). */
export const configOf = (state: BillingConfigState, config: BillingConfig) => ({
  version: config.version,
  ...config.terms,
  note: config.note,
  rates: ratesSince(state, config),
  created_at: config.created_at,
  created_by: config.created_by,
});

/** The active price list (`CreditPriceListResponse`). */
export const priceListOf = (state: PriceListState) => {
  const list = activePriceList(state);
  if (list === undefined) throw new NotPublished('No price list has been published yet.');
  const { version, entries, published_at, published_by, note } = list;
  return { version, entries: [...entries], published_at, published_by, note };
};

interface CreditsByTier {
  readonly light?: number | undefined;
  readonly medium?: number | undefined;
  readonly heavy?: number | undefined;
}

/** A version to publish; what is left out carries over. */
interface ConfigChange {
  readonly free_pages?: number | undefined;
  readonly examples_export_fee_credits?: number | undefined;
  readonly training?:
    | {
        readonly base_credits?: CreditsByTier | undefined;
        readonly credits_per_example?: number | undefined;
        readonly credits_per_metric_call?: number | undefined;
      }
    | undefined;
  readonly hold_ttl_seconds?: number | undefined;
  readonly note?: string | null | undefined;
}

const wanted = (credits: number | undefined) => (credits === undefined ? undefined : asCredits(credits));

const trainingOf = ({
  base_credits: base,
  ...training
}: NonNullable<ConfigChange['training']>): TermsChange['training'] => ({
  base_credits: base && {
    light: wanted(base.light),
    medium: wanted(base.medium),
    heavy: wanted(base.heavy),
  },
  credits_per_example: wanted(training.credits_per_example),
  credits_per_metric_call: wanted(training.credits_per_metric_call),
});

/** Publishes a version: only what the caller named, for what carries over is decided on the log's state. */
export const publishBillingConfig = (
  reference: ReferenceData,
  { note, ...change }: ConfigChange,
  meta: CommandMeta,
): Promise<Outcome<BillingConfigKind>> => {
  const terms: TermsChange = {
    free_pages: change.free_pages,
    examples_export_fee_credits: wanted(change.examples_export_fee_credits),
    training: change.training && trainingOf(change.training),
    hold_ttl_seconds: change.hold_ttl_seconds,
  };
  return reference.changeBillingConfig({
    type: 'PublishBillingConfig',
    data: { terms, note: note ?? null },
    meta,
  });
};

/** A rate to set; `extraction_mode` as callers spell it. */
interface RateChange {
  readonly operation: RatedOperation;
  readonly extraction_mode: string;
  readonly billing_type: BillingType;
  readonly completion_window?: CompletionWindow | null | undefined;
  readonly credits_per_page: number;
}

/** Changes one rate of those that there are. */
export const setRate = async (
  reference: ReferenceData,
  { operation, billing_type, ...change }: RateChange,
  meta: CommandMeta,
) => {
  const extraction_mode = ratedMode(operation, modeOf(change.extraction_mode) ?? 'standard');
  const key = { operation, extraction_mode, billing_type, ...withWindow(change.completion_window) };
  if (rateOf(await activeConfig(reference), key) === undefined)
    return misfit(['body', 'extraction_mode'], `${operation} has no such mode.`);
  if (key.completion_window !== undefined && operation !== 'extract')
    return misfit(
      ['body', 'completion_window'],
      'Batches alone may wait, and their documents are extracted.',
    );
  const data = { ...key, credits_per_page: asCredits(change.credits_per_page) };
  const outcome = await reference.changeBillingConfig({ type: 'SetBillingRate', data, meta });
  return { kind: 'tried' as const, outcome, key };
};

/** Clocks and days of the world differ by so much. */
const AHEAD_MAX_MS = 24 * 60 * 60_000;

/** A time that no clock and no day of the world explain, and the member that says it. */
export interface TimeInFuture {
  readonly code: 'time_in_future';
  readonly member: string;
}

export const timeInFuture = (at: string, now: string, member: string): TimeInFuture | undefined =>
  Date.parse(at) - Date.parse(now) > AHEAD_MAX_MS ? { code: 'time_in_future', member } : undefined;

/** Prices, terms and exchange rates as decisions need them: from the log, at most a second old. */
export interface ReferenceData {
  priceLists(): Promise<PriceListState>;
  billingConfig(): Promise<BillingConfigState>;
  fxRates(): Promise<FxRatesState>;
  publishPriceList(command: PublishPriceList): Promise<Outcome<PriceListKind>>;
  changeBillingConfig(command: BillingConfigCommand): Promise<Outcome<BillingConfigKind>>;
  modelPrices(): Promise<ProviderPricingState>;
  publishModelPrice(command: ProviderPricingCommand): Promise<Outcome<ProviderPricingKind>>;
  publishFxRates(command: FxRatesCommand): Promise<Outcome<FxRatesKind>>;
  /** On a log without them: price list 1 and billing config 1. Safe to run in many processes at once. */
  ensureDefaults(now: string): Promise<void>;
  /** Reads everything again: the log is another one. */
  forget(): void;
}

interface ReferenceDataDeps {
  readonly store: EventStore;
  /** Age at which the log is read again. */
  readonly maxAgeMs?: number;
  readonly options?: HandlerOptions;
}

export const referenceData = (deps: ReferenceDataDeps): ReferenceData => {
  const lists = published(deps, PRICE_LIST_STREAM, { decider: priceList, codec: eventCodec(priceListEvent) });
  const configs = published(deps, BILLING_CONFIG_STREAM, {
    decider: billingConfig,
    codec: eventCodec(billingConfigEvent),
  });
  const rates = published(deps, FX_RATES_STREAM, { decider: fxRates, codec: eventCodec(fxRatesEvent) });
  const models = published(deps, PROVIDER_PRICING_STREAM, {
    decider: providerPricing,
    codec: eventCodec(providerPricingEvent),
  });
  return {
    priceLists: () => lists.current(),
    billingConfig: () => configs.current(),
    fxRates: () => rates.current(),
    publishPriceList: lists.publish,
    changeBillingConfig: configs.publish,
    modelPrices: () => models.current(),
    publishModelPrice: models.publish,
    publishFxRates: rates.publish,
    forget: () => {
      for (const one of [lists, configs, rates, models]) one.forget();
    },
    ensureDefaults: async (now) => {
      if ((await lists.refresh()).versions.length === 0) settled(await lists.publish(firstPriceList(now)));
      if ((await configs.refresh()).versions.length === 0) settled(await configs.publish(firstConfig(now)));
    },
  };
};

/** A stream that is published to now and then, and read all the time. */
const published = <Kind extends AnyKind>(
  { store, maxAgeMs = 1000, options = {} }: ReferenceDataDeps,
  stream: string,
  rules: {
    readonly decider: Decider<Kind>;
    readonly codec: Codec<Kind['event']>;
  },
) => {
  const { initialState, evolve } = rules.decider;
  const cache = cachedStream({ store, stream, maxAgeMs }, { initialState, evolve, codec: rules.codec });
  const handle = commandHandler({ ...rules, store, tenantOf: () => null, options });
  return {
    current: () => cache.current(),
    refresh: () => cache.refresh(),
    forget: () => cache.forget(),
    publish: async (command: Kind['command']): Promise<Outcome<Kind>> => {
      const outcome = await handle(stream, command);
      if (outcome.kind === 'done') await cache.refresh();
      return outcome;
    },
  };
};

const systemMeta = (now: string, part: string): CommandMeta => ({
  now,
  actor: SYSTEM,
  correlation_id: 'first-start',
  command_id: deterministicEventId(part, 'first-start', 0),
});

/** USD 1.00 for 1,000 credits, VAT on top. Version 0 is expected: the second process is refused. */
const firstPriceList = (now: string): PublishPriceList => ({
  type: 'PublishPriceList',
  data: {
    entries: [
      { currency: 'USD', price_per_1000_credits: '1.00', tax_basis: 'exclusive', minor_unit_digits: 2 },
    ],
    expected_version: 0,
    note: null,
  },
  meta: systemMeta(now, PRICE_LIST_STREAM),
});

/** The decider's defaults. Its ID is the same in every process, so a second one adds nothing. */
const firstConfig = (now: string): BillingConfigCommand => ({
  type: 'PublishBillingConfig',
  data: { terms: {}, note: null },
  meta: systemMeta(now, BILLING_CONFIG_STREAM),
});

const settled = (outcome: Outcome<AnyKind>): void => {
  if (outcome.kind === 'done' || outcome.kind === 'rejected') return;
  throw new Error(`the first price list and billing config cannot be published: ${outcome.kind}`);
};
