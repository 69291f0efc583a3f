import { accept, reject, type Decider, type Decision } from '../kernel/decider.ts';
import type { CommandMeta } from '../kernel/command.ts';
import { minorUnitDigits } from '../kernel/currencies.ts';
import { decimalsOf, parseDecimal } from '../kernel/rounding.ts';
import type { PriceListEntry, PriceListEvent } from './events.ts';

/** One published version. It is in force until `superseded_at`; null while it is the active one. */
export interface PriceListVersion {
  readonly version: number;
  readonly entries: readonly PriceListEntry[];
  readonly note: string | null;
  readonly published_at: string;
  readonly published_by: string;
  readonly superseded_at: string | null;
}

/** All versions ever published, in order: version n is at index n − 1. */
export interface PriceListState {
  readonly versions: readonly PriceListVersion[];
}

export interface PublishPriceList {
  readonly type: 'PublishPriceList';
  readonly data: {
    /** The complete set: a currency that is left out is not offered any more. */
    readonly entries: readonly Omit<PriceListEntry, 'minor_unit_digits'>[];
    /** The version that the caller has seen (0: none); null publishes whatever is active. */
    readonly expected_version: number | null;
    readonly note: string | null;
  };
  readonly meta: CommandMeta;
}

/** `version_conflict` is the interface's; the others say which entry is not valid, and why. */
export type PriceListRejection =
  | { readonly code: 'version_conflict'; readonly active_version: number }
  | {
      readonly code: 'invalid_price_list';
      readonly entry: number;
      readonly reason: 'no_entries' | 'unknown_currency' | 'repeated_currency' | 'invalid_price';
    };

/** Decimals that a price may have, in major units of its currency. */
export const PRICE_DECIMALS_MAX = 6;

/** The version in force now; undefined before the first publish. */
export const activePriceList = ({ versions }: PriceListState): PriceListVersion | undefined =>
  versions.at(-1);

export const priceListVersion = ({ versions }: PriceListState, version: number) => versions[version - 1];

const decide = (
  state: PriceListState,
  { data, meta }: PublishPriceList,
): Decision<PriceListEvent, PriceListRejection> => {
  const active_version = activePriceList(state)?.version ?? 0;
  if (data.expected_version !== null && data.expected_version !== active_version)
    return reject({ code: 'version_conflict', active_version });
  const invalid = firstInvalid(data.entries);
  if (invalid !== undefined) return reject({ code: 'invalid_price_list', ...invalid });
  return accept<PriceListEvent>({
    type: 'PriceListPublished',
    data: {
      version: active_version + 1,
      entries: data.entries.map(({ currency, price_per_1000_credits, tax_basis }) => ({
        currency,
        price_per_1000_credits,
        tax_basis,
        minor_unit_digits: minorUnitDigits(currency) ?? 0,
      })),
      note: data.note,
      published_at: meta.now,
      published_by: meta.actor.key_id,
    },
  });
};

type Invalid = Omit<Extract<PriceListRejection, { code: 'invalid_price_list' }>, 'code'>;

const firstInvalid = (entries: PublishPriceList['data']['entries']): Invalid | undefined => {
  if (entries.length === 0) return { entry: 0, reason: 'no_entries' };
  const seen = new Set<string>();
  for (const [entry, { currency, price_per_1000_credits }] of entries.entries()) {
    if (minorUnitDigits(currency) === undefined) return { entry, reason: 'unknown_currency' };
    if (seen.has(currency)) return { entry, reason: 'repeated_currency' };
    if (!isPrice(price_per_1000_credits)) return { entry, reason: 'invalid_price' };
    seen.add(currency);
  }
  return undefined;
};

/** Above 0, with at most 12 digits before the point and `PRICE_DECIMALS_MAX` after it. */
const isPrice = (text: string): boolean =>
  /^\d{1,12}(\.\d{1,18})?$/.test(text) &&
  decimalsOf(text) <= PRICE_DECIMALS_MAX &&
  parseDecimal(text).numerator > 0n;

/** The one stream of price lists. A published version never changes. */
export const priceList: Decider<PriceListState, PublishPriceList, PriceListEvent, PriceListRejection> = {
  initialState: { versions: [] },
  decide,
  evolve: ({ versions }, { data }) => ({
    versions: [
      ...versions.slice(0, -1),
      ...versions.slice(-1).map((last) => ({ ...last, superseded_at: data.published_at })),
      { ...data, superseded_at: null },
    ],
  }),
};
