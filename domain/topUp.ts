import { z } from 'zod';
import { accept, type Command, type Decider, event, reject, type StreamKind } from './kernel/decider.ts';
import { currencyCode, instant, tenantId } from './kernel/amounts.ts';
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
  /** Who pays, and by what: names of the payment provider. */
  payer: z.string(),
  payment_method: z.string(),
  /** When the payer agreed. */
  consented_at: instant,
  updated_at: instant,
  updated_by: z.string(),
});

export const topUpEvent = z.discriminatedUnion('type', [topUpSet]);
type TopUpEvent = z.output<typeof topUpEvent>;
type TopUpSet = Omit<TopUpEvent['data'], 'tenant_id'>;

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
  TopUpWanted & { readonly tenant_id: string; readonly mayNamePayer: boolean }
>;

/** The latest setting; null: none was made. */
interface TopUpState {
  readonly set: TopUpSet | null;
}

export interface TopUpRejection {
  /** Nobody pays yet, or another one would than the caller may name. */
  readonly code: 'payer_missing' | 'payer_refused';
}

export type TopUpKind = StreamKind<TopUpState, SetTopUp, TopUpEvent, TopUpRejection>;

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
  set: TopUpSet | null,
  next: Pick<TopUpSet, (typeof SETTINGS)[number]>,
  consentedAt: string | null,
): boolean =>
  set !== null &&
  SETTINGS.every((name) => set[name] === next[name]) &&
  (consentedAt === null || consentedAt === set.consented_at);

/** Who pays from now on; null: nobody. */
const payerIn = ({ set }: TopUpState, { payer, payment_method }: TopUpWanted) => {
  const who = payer ?? set?.payer ?? null;
  const method = payment_method ?? set?.payment_method ?? null;
  return who === null || method === null ? null : { payer: who, payment_method: method };
};

const isNamed = ({ set }: TopUpState, { payer, payment_method }: TopUpWanted): boolean =>
  (payer ?? set?.payer) !== set?.payer || (payment_method ?? set?.payment_method) !== set?.payment_method;

/** One setting a tenant. Only who answers for the payer names one; what holds already is not recorded again. */
export const topUp: Decider<TopUpKind> = {
  initialState: { set: null },
  decide: (state, { data, meta }) => {
    const { tenant_id, mayNamePayer, consented_at, ...wanted } = data;
    const isGivenAgain = data.active && state.set?.active === false;
    if (!mayNamePayer && (isNamed(state, data) || isGivenAgain)) return reject({ code: 'payer_refused' });
    const payer = payerIn(state, data);
    if (payer === null) return reject({ code: 'payer_missing' });
    const next = { ...wanted, ...payer };
    if (isKnown(state.set, next, consented_at)) return accept();
    const stamp = { updated_at: meta.now, updated_by: meta.actor.key_id };
    const consented = consented_at ?? meta.now;
    return accept({ type: 'TopUpSet', data: { tenant_id, ...next, consented_at: consented, ...stamp } });
  },
  evolve: (_, { data: { tenant_id: __, ...set } }) => ({ set }),
};

export const topUpCodec = eventCodec(topUpEvent);

export const topUpStream = (tenant: string): string => `topUp-${tenant}`;
