import { z } from 'zod';
import { accept, type Command, type Decider, event, reject, type StreamKind } from './kernel/decider.ts';
import { currencyCode, instant, laterBy, tenantId } from './kernel/amounts.ts';
import { eventCodec } from './kernel/codec.ts';

const count = z.number().int().min(1);

/**
 * The payer's standing consent to buy credits whenever the balance is below a threshold. It replaces what was set
 * before; not `active`: it was taken back.
 */
const topUpSet = event('TopUpSet', {
  tenant_id: tenantId,
  active: z.boolean(),
  threshold_credits: count,
  /** Bought at a time. */
  credits: count,
  currency: currencyCode,
  /** The most that top-ups may buy in a month, UTC. */
  monthly_credits_max: count,
  /** Who pays, and by what: names of the payment provider, whose texts go with the tenant's erasure. */
  payer: z.string(),
  payment_method: z.string(),
  /** When the payer agreed. */
  consented_at: instant,
  updated_at: instant,
  updated_by: z.string(),
});

/** `limit`: the maximum of the month had no room. `needs_a_person`: it would be refused again as it is. */
export const topUpOutcome = z.enum(['charged', 'declined', 'limit', 'needs_a_person']);

/** What became of a top-up that was due, as the process that charges tells it. */
const topUpTried = event('TopUpTried', {
  tenant_id: tenantId,
  outcome: topUpOutcome,
  /** The payment; null where none was made. */
  provider: z.string().nullable(),
  provider_txn_id: z.string().nullable(),
  /** Code of the provider, or of who refused it before. */
  reason: z.string().nullable(),
  attempted_at: instant,
  /** null: not by itself. */
  next_attempt_at: instant.nullable(),
  told_at: instant,
  told_by: z.string(),
});

export const topUpEvent = z.discriminatedUnion('type', [topUpSet, topUpTried]);
type TopUpEvent = z.output<typeof topUpEvent>;
type TopUpSet = Omit<z.output<typeof topUpSet>['data'], 'tenant_id'>;
export type TopUpTried = Omit<z.output<typeof topUpTried>['data'], 'tenant_id'>;

/** What a caller says of a tenant's top-ups; who pays may be left out where it is known. */
export type TopUpWanted = Pick<
  TopUpSet,
  'active' | 'threshold_credits' | 'credits' | 'currency' | 'monthly_credits_max'
> & {
  readonly payer: string | null;
  readonly payment_method: string | null;
  /** null: now. */
  readonly consented_at: string | null;
};

/** `mayNamePayer`: the caller answers for who pays; others change the rest. */
type SetTopUp = Command<
  'SetTopUp',
  TopUpWanted & {
    readonly tenant_id: string;
    readonly mayNamePayer: boolean;
    /** When the tenant was erased last; null: never. */
    readonly erased_at: string | null;
  }
>;

type TellTopUp = Command<
  'TellTopUp',
  Omit<TopUpTried, 'told_at' | 'told_by'> & {
    readonly tenant_id: string;
    /** As in `SetTopUp`. */
    readonly erased_at: string | null;
  }
>;

/** Who paid before, and when that was said last. */
interface FormerPayer {
  readonly payer: string;
  readonly said_at: string;
}

interface TopUpState {
  /** The latest setting; null: none was made. Nobody pays where it was erased. */
  readonly set:
    | (Omit<TopUpSet, 'payer' | 'payment_method'> & {
        readonly payer: string | null;
        readonly payment_method: string | null;
      })
    | null;
  /** Who paid before, each once: what they bought this month counts too. */
  readonly formerPayers: readonly FormerPayer[];
  /** The latest that was told since a consent was given; null: none. */
  readonly lastAttempt: TopUpTried | null;
  /** The latest that made a payment, whatever was set since: it is not told again. */
  readonly lastPayment: TopUpTried | null;
}

export interface TopUpRejection {
  /** Nobody pays yet, or another one would than the caller may name; nobody ever agreed to what was tried. */
  readonly code: 'payer_missing' | 'payer_refused' | 'consent_missing';
}

export type TopUpKind = StreamKind<TopUpState, SetTopUp | TellTopUp, TopUpEvent, TopUpRejection>;

const SETTINGS = [
  'active',
  'threshold_credits',
  'credits',
  'currency',
  'monthly_credits_max',
  'payer',
  'payment_method',
] as const;

/** Whether a setting says what holds already: another time of the consent is news. */
const isKnown = (
  set: TopUpState['set'],
  next: Pick<TopUpSet, (typeof SETTINGS)[number]>,
  consentedAt: string | null,
): boolean =>
  set !== null &&
  SETTINGS.every((name) => set[name] === next[name]) &&
  (consentedAt === null || consentedAt === set.consented_at);

/** Who pays from now on; null: nobody. */
const payerIn = ({ set }: Pick<TopUpState, 'set'>, { payer, payment_method }: TopUpWanted) => {
  const who = payer ?? set?.payer ?? null;
  const method = payment_method ?? set?.payment_method ?? null;
  return who === null || method === null ? null : { payer: who, payment_method: method };
};

const isNamed = ({ set }: Pick<TopUpState, 'set'>, { payer, payment_method }: TopUpWanted): boolean =>
  (payer ?? set?.payer) !== set?.payer || (payment_method ?? set?.payment_method) !== set?.payment_method;

/** All payers so far but the one who pays from now on. */
const formerPayers = ({ set, formerPayers: earlier }: TopUpState, payer: string): readonly FormerPayer[] => {
  const last = set?.payer == null ? [] : [{ payer: set.payer, said_at: set.updated_at }];
  return [...earlier.filter((one) => one.payer !== set?.payer), ...last].filter((one) => one.payer !== payer);
};

/**
 * What an erasure leaves: figures, and nobody who pays or paid. The log may have these as an earlier release wrote
 * them, as text that goes with no key.
 */
export const afterErasure = (state: TopUpState, erasedAt: string | null): TopUpState => {
  if (erasedAt === null) return state;
  const { set } = state;
  const isErased = set !== null && set.updated_at <= erasedAt;
  return {
    ...state,
    set: isErased ? { ...set, active: false, payer: null, payment_method: null } : set,
    formerPayers: state.formerPayers.filter(({ said_at }) => said_at > erasedAt),
    lastAttempt:
      state.lastAttempt !== null && state.lastAttempt.told_at > erasedAt ? state.lastAttempt : null,
  };
};

/** What an attempt is known by: one that made no payment by why, and by when the next may come. */
export const attemptName = ({
  outcome,
  provider_txn_id,
  reason,
  next_attempt_at,
}: Pick<TopUpTried, 'outcome' | 'provider_txn_id' | 'reason' | 'next_attempt_at'>): string =>
  `${outcome} ${provider_txn_id ?? `${reason ?? ''} ${next_attempt_at ?? ''}`}`;

/** How far the provider's clock, which payments have their time of, and that of the service may be apart, ms. */
const CLOCKS_APART_MS = 5 * 60_000;

const isPayment = ({ provider_txn_id }: Pick<TopUpTried, 'provider_txn_id'>): boolean =>
  provider_txn_id !== null;

/** Whether an attempt is another than the last one, and no older. */
const isAfter = (last: TopUpTried | null, next: TellTopUp['data']): boolean => {
  if (last === null) return true;
  const apartMs = isPayment(last) === isPayment(next) ? 0 : CLOCKS_APART_MS;
  return attemptName(last) !== attemptName(next) && laterBy(next.attempted_at, apartMs) >= last.attempted_at;
};

/** An older attempt, told late or again, is no news. */
const isNews = (
  { lastAttempt, lastPayment }: Pick<TopUpState, 'lastAttempt' | 'lastPayment'>,
  next: TellTopUp['data'],
): boolean => isAfter(lastAttempt, next) && (!isPayment(next) || isAfter(lastPayment, next));

const setDecided = (all: TopUpState, { data, meta }: SetTopUp): Decided => {
  const { tenant_id, mayNamePayer, consented_at, erased_at, ...wanted } = data;
  const state = afterErasure(all, erased_at);
  const isGivenAgain = data.active && state.set?.active === false;
  if (!mayNamePayer && (isNamed(state, data) || isGivenAgain)) return reject({ code: 'payer_refused' });
  const payer = payerIn(state, data);
  if (payer === null) return reject({ code: 'payer_missing' });
  const next = { ...wanted, ...payer };
  if (isKnown(state.set, next, consented_at)) return accept();
  const stamp = { updated_at: meta.now, updated_by: meta.actor.key_id };
  const consented = consented_at ?? meta.now;
  return accept({ type: 'TopUpSet', data: { tenant_id, ...next, consented_at: consented, ...stamp } });
};

const toldDecided = (all: TopUpState, { data, meta }: TellTopUp): Decided => {
  const { erased_at, ...attempt } = data;
  const state = afterErasure(all, erased_at);
  if (state.set === null) return reject({ code: 'consent_missing' });
  if (!isNews(state, data)) return accept();
  return accept({ type: 'TopUpTried', data: { ...attempt, told_at: meta.now, told_by: meta.actor.key_id } });
};

type Decided = ReturnType<Decider<TopUpKind>['decide']>;

const evolved = (state: TopUpState, { type, data: { tenant_id: _, ...data } }: TopUpEvent): TopUpState => {
  if (type === 'TopUpSet') {
    const set = data as TopUpSet;
    return { ...state, set, formerPayers: formerPayers(state, set.payer), lastAttempt: null };
  }
  const tried = data as TopUpTried;
  return { ...state, lastAttempt: tried, ...(isPayment(tried) && { lastPayment: tried }) };
};

/**
 * One setting a tenant, and what became of the latest top-up by it. Only who answers for the payer names one; what
 * holds already is not recorded again.
 */
export const topUp: Decider<TopUpKind> = {
  initialState: { set: null, formerPayers: [], lastAttempt: null, lastPayment: null },
  decide: (state, command) =>
    command.type === 'SetTopUp' ? setDecided(state, command) : toldDecided(state, command),
  evolve: evolved,
};

export const topUpCodec = eventCodec(topUpEvent);

export const topUpStream = (tenant: string): string => `topUp-${tenant}`;
