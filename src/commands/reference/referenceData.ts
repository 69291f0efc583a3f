import {
  BILLING_CONFIG_STREAM,
  billingConfig,
  type BillingConfigCommand,
  billingConfigEvent,
  type BillingConfigKind,
  type BillingConfigState,
} from '../../../domain/billingConfig.ts';
import {
  FX_RATES_STREAM,
  fxRates,
  type FxRatesCommand,
  fxRatesEvent,
  type FxRatesKind,
  type FxRatesState,
} from '../../../domain/fxRates.ts';
import { eventCodec, type Codec } from '../../../domain/kernel/codec.ts';
import type { AnyKind, CommandMeta, Decider } from '../../../domain/kernel/decider.ts';
import { deterministicEventId } from '../../../domain/kernel/chain.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import {
  PRICE_LIST_STREAM,
  priceList,
  priceListEvent,
  type PriceListKind,
  type PriceListState,
  type PublishPriceList,
} from '../../../domain/priceList.ts';
import {
  PROVIDER_PRICING_STREAM,
  providerPricing,
  type ProviderPricingCommand,
  providerPricingEvent,
  type ProviderPricingKind,
  type ProviderPricingState,
} from '../../../domain/modelPrices.ts';
import { cachedStream } from '../writer/cachedStream.ts';
import { SYSTEM } from '../writer/commandMeta.ts';
import { commandHandler, type HandlerOptions } from '../writer/commandHandler.ts';
import type { Outcome } from '../writer/outcome.ts';

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
  /** Reads everything anew: the log is another one. */
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

/** USD 1.00 for 1,000 credits, VAT on top. Version 0 is expected: whoever comes second is refused. */
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
