import type { PriceListEntry } from '../../../domain/priceList.ts';
import type { BillingRate, BillingTerms } from '../../../domain/billingConfig.ts';
import { byType, recordedAt, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import { wrong, type Findings } from '../findings.ts';
import { fxPublications, type BookedRate } from './fxRates.ts';

/** Categories of what sales and burns of all tenants point at. */
export const PUBLISHED = ['priceList', 'billingConfig', 'fxRates'] as const;

/** How long a decision may be behind what it was decided by: caches, clocks, a request under way. */
export const RACE_MS = 10 * 60_000;
/** A superseded price list stays usable for sales that happened up to so long after. Source: the price list. */
const GRACE_MS = 24 * 60 * 60_000;

/** A billing config as burns are checked by it. */
interface ConfigTerms {
  readonly free_pages: number;
  readonly examples_export_fee_credits: number;
  readonly training: BillingTerms['training'] | null;
  /** Credits a page by `operation mode type`. */
  readonly rates: ReadonlyMap<string, number>;
}

interface PublishedList {
  readonly published_at: string;
  readonly entries: readonly PriceListEntry[];
}

/** What was published, as far as the log was read. */
export interface Reference {
  readonly apply: (event: AuditedEvent) => void;
  readonly config: (version: number) => ConfigTerms | undefined;
  readonly list: (version: number) => PublishedList | undefined;
  /** Whether a sale could be priced by this version: it was active, or superseded a day ago at most. */
  readonly wasInForce: (version: number, sale: AuditedEventOf<'CreditsGranted'>) => boolean;
  /** The rates that a sale could be booked at; the first is the expected one. */
  readonly bookable: (sale: AuditedEventOf<'CreditsGranted'>) => readonly BookedRate[];
}

export const rateKey = (rate: Pick<BillingRate, 'operation' | 'extraction_mode' | 'billing_type'>): string =>
  `${rate.operation} ${rate.extraction_mode} ${rate.billing_type}`;

const ratesOf = (rates: readonly BillingRate[]): ReadonlyMap<string, number> =>
  new Map(rates.map((rate) => [rateKey(rate), rate.credits_per_page]));

const versionIs = (
  findings: Findings,
  event: AuditedEventOf<'PriceListPublished' | 'BillingConfigPublished' | 'BillingRateSet'>,
  last: number,
): void => {
  findings.checked('version');
  const { version } = event.data;
  if (version === last + 1) return;
  const message = `Version ${version} was published after version ${last}.`;
  wrong(findings, 'version', event)(message, last + 1, version);
};

const NO_TERMS: ConfigTerms = {
  free_pages: 0,
  examples_export_fee_credits: 0,
  training: null,
  rates: new Map(),
};

/** Billing configs; a rate alone carries the rest of the version before over. */
const billingConfigs = (findings: Findings) => {
  const configs = new Map<number, ConfigTerms>();
  let last = 0;
  return {
    of: (version: number) => configs.get(version),
    apply: (event: AuditedEventOf<'BillingConfigPublished' | 'BillingRateSet'>): void => {
      versionIs(findings, event, last);
      if (event.type === 'BillingConfigPublished') {
        const { version, terms, rates } = event.data;
        configs.set(version, { ...terms, rates: ratesOf(rates) });
      } else {
        const { version, rate } = event.data;
        const before = configs.get(last) ?? NO_TERMS;
        const rates = new Map(before.rates).set(rateKey(rate), rate.credits_per_page);
        configs.set(version, { ...before, rates });
      }
      last = event.data.version;
    },
  };
};

const priceLists = (findings: Findings) => {
  const lists = new Map<number, PublishedList>();
  let last = 0;
  return {
    of: (version: number) => lists.get(version),
    apply: (event: AuditedEventOf<'PriceListPublished'>): void => {
      versionIs(findings, event, last);
      lists.set(event.data.version, event.data);
      last = event.data.version;
    },
    wasInForce: (version: number, sale: AuditedEventOf<'CreditsGranted'>): boolean => {
      const [list, next] = [lists.get(version), lists.get(version + 1)];
      if (list === undefined) return false;
      if (next === undefined) return true;
      const superseded = Date.parse(next.published_at);
      if (superseded > Date.parse(recordedAt(sale)) - RACE_MS) return true;
      const occurred = Date.parse(sale.data.occurred_at);
      return occurred >= Date.parse(list.published_at) && occurred <= superseded + GRACE_MS;
    },
  };
};

/** Everything that sales and burns point at. */
export const reference = (findings: Findings): Reference => {
  const [configs, lists, fx] = [billingConfigs(findings), priceLists(findings), fxPublications()];
  return {
    config: configs.of,
    list: lists.of,
    wasInForce: lists.wasInForce,
    bookable: (sale) =>
      fx.bookable(
        { currency: sale.data.currency, day: sale.data.occurred_at.slice(0, 10) },
        new Date(Date.parse(recordedAt(sale)) - RACE_MS).toISOString(),
      ),
    apply: byType({
      PriceListPublished: lists.apply,
      BillingConfigPublished: configs.apply,
      BillingRateSet: configs.apply,
      FxRatesPublished: ({ data }) => fx.apply(data),
    }),
  };
};
