import { accept, type CommandMeta, type Decision, reject } from '../kernel/decider.ts';
import { asCredits, minus, plus, staysExact } from '../kernel/amounts.ts';
import {
  type AccountEvent,
  type AccountEventOf,
  type AccountRejection,
  type Dispute,
  paymentKey,
  type ReverseRefund,
  type TellDispute,
} from './messages.ts';
import { type Amounts, shareOf } from './payments.ts';
import { type AccountState, paymentAt, refundAt, type SaleState } from './state.ts';

type AccountDecision = Decision<AccountEvent, AccountRejection>;
type Refund = AccountEventOf<'CreditsRefunded'>['data'];

/** What of a refund is not reversed yet. */
export const reversibleOf = (refund: Refund, { reversals }: SaleState): Amounts => {
  let left: Amounts = {
    credits: refund.credits,
    gross: refund.gross_amount_minor,
    vat: refund.vat_amount_minor,
    fee: refund.provider_fee_minor,
  };
  for (const one of reversals)
    if (one.refund_id === refund.refund_id)
      left = {
        credits: minus(left.credits, one.credits),
        gross: left.gross - one.gross_amount_minor,
        vat: left.vat - one.vat_amount_minor,
        fee: left.fee - one.provider_fee_minor,
      };
  return left;
};

/** ⌊whole × gross ÷ the refund's gross⌋, never more than is left; all of that for all remaining money. */
const partOf = (whole: number, left: number, { gross, of, all }: Share): number => {
  return all ? left : Math.min(left, shareOf(whole, gross, of));
};
interface Share {
  readonly gross: number;
  readonly of: number;
  readonly all: boolean;
}

/**
 * What a reversal gives back. Without amounts all that is left; with money alone its part of credits, VAT and fee, all
 * of them with all remaining money; with credits alone no money. As much VAT goes as leaves no more VAT than money.
 */
const amountsOf = ({ credits, gross_amount_minor }: ReverseRefund['data'], refund: Refund, left: Amounts) => {
  if (credits === null && gross_amount_minor === null) return left;
  const gross = gross_amount_minor ?? 0;
  const share = { gross, of: refund.gross_amount_minor, all: gross > 0 && gross === left.gross };
  const vat = Math.max(partOf(refund.vat_amount_minor, left.vat, share), left.vat - (left.gross - gross));
  return {
    credits: credits ?? asCredits(partOf(refund.credits, left.credits, share)),
    gross,
    vat: Math.min(gross, left.vat, vat),
    fee: partOf(refund.provider_fee_minor, left.fee, share),
  };
};

const exceeds = (wanted: Amounts, left: Amounts): boolean =>
  wanted.credits > left.credits || wanted.gross > left.gross || (wanted.credits === 0 && wanted.gross === 0);

/** What is asked for, of a reversal. */
type Asked = Pick<
  ReverseRefund['data'],
  'reversal_id' | 'provider' | 'provider_txn_id' | 'fingerprint' | 'reason' | 'occurred_at'
>;

const givenBack = (
  { state, refund, amounts }: { state: AccountState; refund: Refund; amounts: Amounts },
  { data, meta }: { readonly data: Asked; readonly meta: CommandMeta },
): AccountEventOf<'RefundReversed'> => ({
  type: 'RefundReversed',
  data: {
    reversal_id: data.reversal_id,
    refund_id: refund.refund_id,
    grant_id: refund.grant_id,
    provider: data.provider,
    provider_txn_id: data.provider_txn_id,
    credits: amounts.credits,
    currency: refund.currency,
    gross_amount_minor: amounts.gross,
    vat_amount_minor: amounts.vat,
    provider_fee_minor: amounts.fee,
    fingerprint: data.fingerprint,
    reason: data.reason,
    occurred_at: data.occurred_at,
    created_at: meta.now,
    balance_after: plus(state.balance, amounts.credits),
  },
});

/** Undoes all or part of a refund; a dispute is won or lost. Order of checks: repeat, 404, exceeds, range. */
export const reverseRefund = (state: AccountState, command: ReverseRefund): AccountDecision => {
  const { data } = command;
  const earlier = paymentAt(state, paymentKey(data));
  if (earlier?.reversal?.fingerprint === data.fingerprint) return accept();
  if (earlier !== undefined) return reject({ code: 'idempotency_key_reused' });

  const refunded = { provider: data.provider, provider_txn_id: data.refund_provider_txn_id };
  const found = refundAt(state, paymentKey(refunded));
  if (found?.refund.refund_id !== data.refund_id || found.refund.dispute !== undefined)
    return reject({ code: 'refund_not_found' });

  const { refund, of } = found;
  const left = reversibleOf(refund, of);
  const amounts = amountsOf(data, refund, left);
  if (exceeds(amounts, left))
    return reject({
      code: 'reversal_exceeds_refund',
      reversible_credits: left.credits,
      reversible_amount_minor: left.gross,
    });
  const isExact = [state.balance, state.purchased].every((total) => staysExact(total, amounts.credits));
  if (!isExact) return reject({ code: 'credits_out_of_range' });
  return accept(givenBack({ state, refund, amounts }, command));
};

/** Members of news that contradict what is known of a dispute. One that ended does not begin again. */
const contradictionsOf = (told: TellDispute['data'], refund: Refund, known: Dispute): readonly string[] => {
  const hasEnded = known.status !== 'opened' && told.status !== 'opened';
  // One that was won when it was told of first has taken nothing, so that its money is not known.
  const gross = refund.gross_amount_minor === 0 ? null : told.gross_amount_minor;
  const { fee_minor: fee } = known;
  return [
    ...(hasEnded && told.status !== known.status ? ['status'] : []),
    ...(gross !== null && gross !== refund.gross_amount_minor ? ['gross_amount_minor'] : []),
    ...(fee > 0 && told.fee_minor > 0 && told.fee_minor !== fee ? ['fee_minor'] : []),
  ];
};

/** What a dispute that was won gives back: all of its refund that is left. Nothing where nothing is. */
const wonBack = (state: AccountState, { data, meta }: TellDispute): readonly AccountEvent[] | undefined => {
  const found = refundAt(state, paymentKey(data));
  if (found === undefined) return [];
  const amounts = reversibleOf(found.refund, found.of);
  if (amounts.credits === 0 && amounts.gross === 0) return [];
  if (![state.balance, state.purchased].every((total) => staysExact(total, amounts.credits)))
    return undefined;
  const { fingerprint } = found.refund;
  const asked = { ...data, fingerprint, reason: null, occurred_at: meta.now };
  const { type, data: given } = givenBack({ state, refund: found.refund, amounts }, { data: asked, meta });
  return [{ type, data: { ...given, dispute: true } }];
};

/** What is known of a dispute with its news: the first end, and the first fee. */
const knownAfter = (known: Dispute, told: Dispute): Dispute => ({
  status: known.status === 'opened' ? told.status : known.status,
  fee_minor: known.fee_minor > 0 ? known.fee_minor : told.fee_minor,
});

/** Another state of a dispute, or its fee. News that is older than what is known changes nothing. */
export const tellDispute = (state: AccountState, command: TellDispute): AccountDecision => {
  const { data, meta } = command;
  const refund = refundAt(state, paymentKey(data))?.refund;
  if (refund?.dispute === undefined) return reject({ code: 'refund_not_found' });
  const known = refund.dispute;
  const members = contradictionsOf(data, refund, known);
  if (members.length > 0) return reject({ code: 'idempotency_key_reused', members });
  const { status, fee_minor } = knownAfter(known, data);
  if (status === known.status && fee_minor === known.fee_minor) return accept();
  const back = status === 'won' && known.status !== 'won' ? wonBack(state, command) : [];
  if (back === undefined) return reject({ code: 'credits_out_of_range' });
  const { refund_id, grant_id, provider, provider_txn_id, currency } = refund;
  return accept(...back, {
    type: 'DisputeChanged',
    data: {
      refund_id,
      grant_id,
      provider,
      provider_txn_id,
      currency,
      status,
      previous_status: known.status,
      fee_minor,
      previous_fee_minor: known.fee_minor,
      created_at: meta.now,
    },
  });
};
