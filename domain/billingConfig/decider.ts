import type { CommandMeta } from '../kernel/command.ts';
import { accept, reject, type Decider, type Decision } from '../kernel/decider.ts';
import type { Credits } from '../kernel/units.ts';
import { DEFAULT_RATES, DEFAULT_TERMS } from './defaults.ts';
import type { BillingConfigEvent, BillingRate, BillingTerms } from './events.ts';

/** One version: the terms and all rates as they were in force from `created_at` on. */
export interface BillingConfigVersion {
  readonly version: number;
  readonly terms: BillingTerms;
  readonly rates: readonly BillingRate[];
  readonly note: string | null;
  readonly created_at: string;
  readonly created_by: string;
}

/** All versions ever published, in order: version n is at index n − 1. */
export interface BillingConfigState {
  readonly versions: readonly BillingConfigVersion[];
}

/** Terms that change; what is left out carries over. */
export interface TermsChange {
  readonly free_pages?: number | undefined;
  readonly examples_export_fee_credits?: Credits | undefined;
  readonly training?:
    | {
        readonly base_credits?:
          Partial<Record<'light' | 'medium' | 'heavy', Credits | undefined>> | undefined;
        readonly credits_per_example?: Credits | undefined;
        readonly credits_per_metric_call?: Credits | undefined;
      }
    | undefined;
  readonly hold_ttl_seconds?: number | undefined;
}

/** A new version with other terms; on an empty stream the defaults are what carries over. */
export interface PublishBillingConfig {
  readonly type: 'PublishBillingConfig';
  readonly data: {
    readonly terms: TermsChange;
    readonly note: string | null;
    /** The version that the caller has seen (0: none); null publishes whatever is active. */
    readonly expected_version: number | null;
  };
  readonly meta: CommandMeta;
}

/** A new version with one other rate. */
export interface SetBillingRate {
  readonly type: 'SetBillingRate';
  readonly data: { readonly rate: BillingRate };
  readonly meta: CommandMeta;
}

export type BillingConfigCommand = PublishBillingConfig | SetBillingRate;

/** `unknown_rate`: the operation has no such mode. */
export type BillingConfigRejection =
  { readonly code: 'version_conflict'; readonly active_version: number } | { readonly code: 'unknown_rate' };

/** The version in force now; undefined before the first publish. */
export const activeBillingConfig = ({ versions }: BillingConfigState): BillingConfigVersion | undefined =>
  versions.at(-1);

export const billingConfigVersion = ({ versions }: BillingConfigState, version: number) =>
  versions[version - 1];

/** What the first publish starts from. */
const NOTHING_YET = { version: 0, terms: DEFAULT_TERMS, rates: DEFAULT_RATES };

type BillingConfigDecision = Decision<BillingConfigEvent, BillingConfigRejection>;

const publish = (state: BillingConfigState, { data, meta }: PublishBillingConfig): BillingConfigDecision => {
  const active = activeBillingConfig(state) ?? NOTHING_YET;
  if (data.expected_version !== null && data.expected_version !== active.version)
    return reject({ code: 'version_conflict', active_version: active.version });
  return accept<BillingConfigEvent>({
    type: 'BillingConfigPublished',
    data: {
      version: active.version + 1,
      terms: changed(active.terms, data.terms),
      rates: [...active.rates],
      note: data.note,
      created_at: meta.now,
      created_by: meta.actor.key_id,
    },
  });
};

/** Sets on an empty stream publish the defaults first, so that a version is never half a config. */
const setRate = (state: BillingConfigState, { data, meta }: SetBillingRate): BillingConfigDecision => {
  const active = activeBillingConfig(state);
  if (!(active?.rates ?? DEFAULT_RATES).some((rate) => isSameKey(rate, data.rate)))
    return reject({ code: 'unknown_rate' });
  const by = { created_at: meta.now, created_by: meta.actor.key_id };
  const first: BillingConfigEvent = {
    type: 'BillingConfigPublished',
    data: { version: 1, terms: DEFAULT_TERMS, rates: [...DEFAULT_RATES], note: null, ...by },
  };
  const version = (active?.version ?? 1) + 1;
  const set: BillingConfigEvent = { type: 'BillingRateSet', data: { version, rate: data.rate, ...by } };
  return accept<BillingConfigEvent>(...(active === undefined ? [first] : []), set);
};

const changed = (terms: BillingTerms, change: TermsChange): BillingTerms => ({
  free_pages: change.free_pages ?? terms.free_pages,
  examples_export_fee_credits: change.examples_export_fee_credits ?? terms.examples_export_fee_credits,
  training: changedTraining(terms.training, change.training),
  hold_ttl_seconds: change.hold_ttl_seconds ?? terms.hold_ttl_seconds,
});

const changedTraining = (
  training: BillingTerms['training'],
  change: TermsChange['training'] = {},
): BillingTerms['training'] => ({
  base_credits: {
    light: change.base_credits?.light ?? training.base_credits.light,
    medium: change.base_credits?.medium ?? training.base_credits.medium,
    heavy: change.base_credits?.heavy ?? training.base_credits.heavy,
  },
  credits_per_example: change.credits_per_example ?? training.credits_per_example,
  credits_per_metric_call: change.credits_per_metric_call ?? training.credits_per_metric_call,
});

const isSameKey = (a: BillingRate, b: BillingRate): boolean =>
  a.operation === b.operation && a.extraction_mode === b.extraction_mode && a.billing_type === b.billing_type;

const evolve = ({ versions }: BillingConfigState, event: BillingConfigEvent): BillingConfigState => {
  switch (event.type) {
    case 'BillingConfigPublished':
      return { versions: [...versions, event.data] };
    case 'BillingRateSet':
      return { versions: [...versions, withRate(versions, event.data)] };
  }
};

const withRate = (
  versions: readonly BillingConfigVersion[],
  { rate, ...made }: Extract<BillingConfigEvent, { type: 'BillingRateSet' }>['data'],
): BillingConfigVersion => {
  const last = versions.at(-1);
  if (last === undefined) throw new Error(`rate of version ${made.version} without a config before it`);
  const rates = last.rates.map((old) => (isSameKey(old, rate) ? rate : old));
  return { ...made, terms: last.terms, rates, note: null };
};

/** The one stream of billing configs. A published version never changes. */
export const billingConfig: Decider<
  BillingConfigState,
  BillingConfigCommand,
  BillingConfigEvent,
  BillingConfigRejection
> = {
  initialState: { versions: [] },
  decide: (state, command) => {
    switch (command.type) {
      case 'PublishBillingConfig':
        return publish(state, command);
      case 'SetBillingRate':
        return setRate(state, command);
    }
  },
  evolve,
};
