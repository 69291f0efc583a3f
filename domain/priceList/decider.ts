import type { Command } from '../kernel/command.ts';
import { accept, reject, type Decider, type StreamKind } from '../kernel/decider.ts';
import type { AccountEventOf } from '../account/events.ts';
import type { PriceListEntry, PriceListEvent } from './events.ts';

/** Replaces the whole list, all currencies at once. */
export type PublishPriceList = Command<
  'PublishPriceList',
  {
    readonly entries: readonly PriceListEntry[];
    /** The version that the publisher saw; another one by now is a conflict. null: do not check. */
    readonly expected_version: number | null;
    readonly note: string | null;
  }
>;

interface PriceListRejection {
  readonly code: 'version_conflict';
  readonly version: number;
}

type PriceList = Extract<PriceListEvent, { type: 'PriceListPublished' }>['data'];

/** Every list ever published, version n at index n − 1. */
export interface PriceListState {
  readonly versions: readonly PriceList[];
}

/** The list that prices now; undefined before the first publication. */
export const activePriceList = ({ versions }: PriceListState): PriceList | undefined => versions.at(-1);

/** A list stays usable for sales that happened while it was active, or at most this long after, ms. */
export const GRACE_MS = 24 * 60 * 60 * 1000;

/**
 * The list that prices a sale: the active one, or the version named if it was active at `occurredAt` or
 * was superseded at most 24 hours before (a webhook may arrive after a publish). Times are RFC 3339.
 */
export const priceListFor = (
  { versions }: PriceListState,
  version: number | null,
  occurredAt: string,
): PriceList | undefined => {
  if (version === null || version === versions.length) return versions.at(-1);
  const list = versions[version - 1];
  const next = versions[version];
  if (list === undefined || next === undefined) return undefined;
  const occurred = Date.parse(occurredAt);
  const started = Date.parse(list.published_at);
  return occurred >= started && occurred <= Date.parse(next.published_at) + GRACE_MS ? list : undefined;
};

/** The members of a grant that a price list decides. */
export type Priced = Pick<
  AccountEventOf<'CreditsGranted'>['data'],
  'price_list_version' | 'price_per_1000_credits' | 'tax_basis'
>;

export type PriceListKind = StreamKind<PriceListState, PublishPriceList, PriceListEvent, PriceListRejection>;

/** Lists are published, never changed. */
export const priceList: Decider<PriceListKind> = {
  initialState: { versions: [] },
  decide: ({ versions }, { data, meta }) => {
    const version = versions.length;
    if (data.expected_version !== null && data.expected_version !== version)
      return reject({ code: 'version_conflict', version });
    return accept({
      type: 'PriceListPublished',
      data: {
        version: version + 1,
        entries: [...data.entries],
        note: data.note,
        published_at: meta.now,
        published_by: meta.actor.key_id,
      },
    });
  },
  evolve: ({ versions }, { data }) => ({ versions: [...versions, data] }),
};
