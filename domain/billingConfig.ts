import { z } from 'zod';
import { accept, type Command, type Decider, event, reject, type StreamKind } from './kernel/decider.ts';
import { asCredits, creditsFromZero, instant, pages } from './kernel/amounts.ts';
import { billingType, extractionMode, mayWait, ratedOperation } from './account/messages.ts';

const rate = (
  operation: BillingRate['operation'],
  extraction_mode: BillingRate['extraction_mode'],
  [full_service, byok]: readonly [number, number],
): readonly BillingRate[] => [
  { operation, extraction_mode, billing_type: 'full_service', credits_per_page: asCredits(full_service) },
  { operation, extraction_mode, billing_type: 'byok', credits_per_page: asCredits(byok) },
];

/** Credits a page for one operation, mode and billing type; with a window, for work that may wait so long. */
const billingRate = z.strictObject({
  operation: ratedOperation,
  extraction_mode: extractionMode,
  billing_type: billingType,
  ...mayWait,
  credits_per_page: creditsFromZero,
});

export type BillingRate = z.output<typeof billingRate>;

const byTier = z.strictObject({ light: creditsFromZero, medium: creditsFromZero, heavy: creditsFromZero });

/** Everything that a bill depends on but the rates. */
const billingTerms = z.strictObject({
  free_pages: pages,
  examples_export_fee_credits: creditsFromZero,
  training: z.strictObject({
    base_credits: byTier,
    credits_per_example: creditsFromZero,
    credits_per_metric_call: creditsFromZero,
  }),
  hold_ttl_seconds: z.number().int().min(60).max(86_400),
});

export type BillingTerms = z.output<typeof billingTerms>;

/** A whole new version: terms and all rates. */
const billingConfigPublished = event('BillingConfigPublished', {
  version: z.number().int().min(1),
  terms: billingTerms,
  rates: z.array(billingRate),
  note: z.string().nullable(),
  created_at: instant,
  created_by: z.string(),
});

/** One rate changed: a new version too; all else carries over. */
const billingRateSet = event('BillingRateSet', {
  version: z.number().int().min(1),
  rate: billingRate,
  created_at: instant,
  created_by: z.string(),
});

export const billingConfigEvent = z.discriminatedUnion('type', [billingConfigPublished, billingRateSet]);

type BillingConfigEvent = z.output<typeof billingConfigEvent>;

/** The one stream of billing configs. */
export const BILLING_CONFIG_STREAM = 'billingConfig';

/** Most pages of a document that a caller waits for. */
export const DOCUMENT_PAGES_MAX = 100;

/** Most pages of a document that is an operation. */
export const OPERATION_PAGES_MAX = 2_000;

/** Far more examples or metric calls than any job has; their price is still exact. */
export const TRAINING_COUNT_MAX = 1_000_000_000;

/** Whose product with the most that can be asked for passes 2^53 − 1: no bill could say it exactly. */
type BeyondExact = readonly (string | number)[];

/** Where rates or terms are beyond what can be billed; undefined: all are within it. */
const beyondExact = ({ training }: BillingTerms, rates: readonly BillingRate[]): BeyondExact | undefined => {
  const isExact = (...amounts: readonly number[]) =>
    Number.isSafeInteger(amounts.reduce((sum, amount) => sum + amount, 0));
  if (!rates.every(({ credits_per_page }) => isExact(OPERATION_PAGES_MAX * credits_per_page)))
    return ['credits_per_page'];
  const examples = TRAINING_COUNT_MAX * training.credits_per_example;
  if (!isExact(examples)) return ['training', 'credits_per_example'];
  const calls = TRAINING_COUNT_MAX * training.credits_per_metric_call;
  if (!isExact(calls)) return ['training', 'credits_per_metric_call'];
  const base = Math.max(...Object.values(training.base_credits));
  return isExact(base, examples, calls) ? undefined : ['training'];
};

type Change<Terms> = { readonly [Member in keyof Terms]?: Terms[Member] | undefined };

type Training = BillingTerms['training'];

type TrainingChange = Omit<Change<Training>, 'base_credits'> & {
  readonly base_credits?: Change<Training['base_credits']> | undefined;
};

/** Terms that a publication changes; what is left out carries over, at every depth. */
export type TermsChange = Omit<Change<BillingTerms>, 'training'> & {
  readonly training?: TrainingChange | undefined;
};

type PublishBillingConfig = Command<
  'PublishBillingConfig',
  { readonly terms: TermsChange; readonly note: string | null }
>;

type SetBillingRate = Command<'SetBillingRate', BillingRate>;

export type BillingConfigCommand = PublishBillingConfig | SetBillingRate;

/** The price of the most that can be asked for would pass 2^53 − 1. `at`: the member. */
export interface BillingConfigRejection {
  readonly code: 'beyond_exact';
  readonly at: BeyondExact;
}

/** One version of everything that a bill depends on. */
export interface BillingConfig {
  readonly version: number;
  readonly terms: BillingTerms;
  readonly rates: readonly BillingRate[];
  readonly note: string | null;
  readonly created_at: string;
  readonly created_by: string;
}

export interface BillingConfigState {
  /** Version n at index n − 1. */
  readonly versions: readonly BillingConfig[];
}

export const activeBillingConfig = ({ versions }: BillingConfigState): BillingConfig | undefined =>
  versions.at(-1);

/** Terms of a fresh installation. Source: api.md §5. */
export const DEFAULT_TERMS: BillingTerms = {
  free_pages: 50,
  examples_export_fee_credits: asCredits(5_000),
  training: {
    base_credits: { light: asCredits(2_000), medium: asCredits(6_000), heavy: asCredits(18_000) },
    credits_per_example: asCredits(20),
    credits_per_metric_call: asCredits(10),
  },
  hold_ttl_seconds: 900,
};

/** Rates of a fresh installation: the list prices of the interface, full service and own keys. */
export const DEFAULT_RATES: readonly BillingRate[] = [
  ...rate('extract', 'fast', [10, 2]),
  ...rate('extract', 'standard', [40, 5]),
  ...rate('extract', 'robust', [80, 10]),
  ...rate('to_markdown', 'default', [40, 5]),
  ...rate('to_markdown', 'fast', [10, 2]),
  ...rate('classify', 'default', [2, 2]),
  ...rate('split', 'default', [2, 2]),
];

/** Rates with those of a fresh installation for operations that have none: a config may be older than they are. */
export const withLaterRates = (rates: readonly BillingRate[]): readonly BillingRate[] => {
  const rated = new Set(rates.map(({ operation }) => operation));
  return [...rates, ...DEFAULT_RATES.filter(({ operation }) => !rated.has(operation))];
};

/** What a rate is for. */
export type RateKey = Omit<BillingRate, 'credits_per_page'>;

/** Whether two rates, or a rate and the work that is asked for, are for the same. */
export const isSameRate = (a: RateKey, b: RateKey): boolean =>
  a.operation === b.operation &&
  a.extraction_mode === b.extraction_mode &&
  a.billing_type === b.billing_type &&
  a.completion_window === b.completion_window;

/** The rates with one of them set. */
const withRate = (rates: readonly BillingRate[], set: BillingRate): readonly BillingRate[] =>
  rates.some((one) => isSameRate(one, set))
    ? rates.map((one) => (isSameRate(one, set) ? set : one))
    : [...rates, set];

const changedTraining = (training: Training, change: TrainingChange): Training => ({
  base_credits: {
    light: change.base_credits?.light ?? training.base_credits.light,
    medium: change.base_credits?.medium ?? training.base_credits.medium,
    heavy: change.base_credits?.heavy ?? training.base_credits.heavy,
  },
  credits_per_example: change.credits_per_example ?? training.credits_per_example,
  credits_per_metric_call: change.credits_per_metric_call ?? training.credits_per_metric_call,
});

const changed = (terms: BillingTerms, change: TermsChange): BillingTerms => ({
  free_pages: change.free_pages ?? terms.free_pages,
  examples_export_fee_credits: change.examples_export_fee_credits ?? terms.examples_export_fee_credits,
  training: changedTraining(terms.training, change.training ?? {}),
  hold_ttl_seconds: change.hold_ttl_seconds ?? terms.hold_ttl_seconds,
});

export type BillingConfigKind = StreamKind<
  BillingConfigState,
  BillingConfigCommand,
  BillingConfigEvent,
  BillingConfigRejection
>;

/** Configs are appended, never changed: a rate change is a new version too. */
export const billingConfig: Decider<BillingConfigKind> = {
  initialState: { versions: [] },
  decide: ({ versions }, command) => {
    const version = versions.length + 1;
    const created = { created_at: command.meta.now, created_by: command.meta.actor.key_id };
    const before = versions.at(-1);
    if (command.type === 'SetBillingRate') {
      if (beyondExact(DEFAULT_TERMS, [command.data]) !== undefined)
        return reject({ code: 'beyond_exact', at: ['credits_per_page'] });
      return accept({ type: 'BillingRateSet', data: { version, rate: command.data, ...created } });
    }
    const terms = changed(before?.terms ?? DEFAULT_TERMS, command.data.terms);
    // Rates were looked at when they were set.
    const at = beyondExact(terms, []);
    if (at !== undefined) return reject({ code: 'beyond_exact', at });
    const rates = [...(before?.rates ?? DEFAULT_RATES)];
    return accept({
      type: 'BillingConfigPublished',
      data: { version, terms, rates, note: command.data.note, ...created },
    });
  },
  evolve: ({ versions }, event) => {
    if (event.type === 'BillingConfigPublished') {
      const rates = withLaterRates(event.data.rates);
      return { versions: [...versions, { ...event.data, rates }] };
    }
    const { rate: set, ...created } = event.data;
    const before = versions.at(-1);
    const rates = withRate(before?.rates ?? DEFAULT_RATES, set);
    return {
      versions: [...versions, { terms: before?.terms ?? DEFAULT_TERMS, rates, note: null, ...created }],
    };
  },
};
