import type { AccountRejection } from '../../../domain/account/messages.ts';
import type { BillingConfigRejection } from '../../../domain/billingConfig.ts';
import { timeInFuture, type TimeInFuture } from '../../commands/reference.ts';
import { budgetSentence } from '../../commands/holds.ts';
import type { RefundRejection, SaleRejection } from '../../commands/sales.ts';
import type { TransferRejection } from '../../commands/money/transfers.ts';
import { invalid, neverRejected, problem, type Problem, type Sentences } from '../../server/problems.ts';
import type { ProblemCode } from '../../problemTable.ts';

/** Every reason an account has to say no: one that is not here does not compile. */
const ACCOUNT_REJECTIONS = {
  idempotency_key_reused: 'This identity belongs to another request.',
  credits_out_of_range: () =>
    invalid({
      loc: ['body'],
      msg: 'One movement is at most 10^12 credits, and a total at most 2^53 − 1.',
      type: 'too_big',
    }),
  transfer_to_itself: neverRejected,
  transfer_too_early: neverRejected,
  original_grant_not_found: 'There is no sale with this provider and transaction.',
  refund_mismatch: ({ reason }: Extract<AccountRejection, { code: 'refund_mismatch' }>) =>
    problem('refund_mismatch', `The sale to refund has another ${reason}.`, { reason }),
  refund_exceeds_original: 'The refund is more than what is left of the sale.',
  refund_not_found: 'There is no refund with this ID.',
  reversal_exceeds_refund: 'The reversal is more than what is left of the refund.',
  insufficient_balance: 'The available credits do not cover this.',
  insufficient_credits: 'The available credits do not cover this.',
  plan_required: 'The plan of this tenant does not include this.',
  hold_not_open: neverRejected,
  too_many_open: neverRejected,
  burn_exceeds_hold: neverRejected,
  budget_reached: (rejection: Extract<AccountRejection, { code: 'budget_reached' }>) => {
    const { code, ...members } = rejection;
    return problem(code, budgetSentence(rejection), members);
  },
  budget_not_found: 'There is no such budget of this tenant.',
  budget_read_only:
    'This key has a budget of its own: it may read budgets, and raise its own up to its parent’s.',
  too_many_budgets: 'The tenant has as many budgets as it may have. Remove one first.',
} satisfies Sentences<AccountRejection>;

type AccountProblem = Extract<AccountRejection['code'], ProblemCode>;

/** Why an account says no to a command that it refuses for no other reason than these. */
export const accountRejections = <Listed extends AccountProblem>(
  ...listed: readonly Listed[]
): Sentences<AccountRejection, Listed> => {
  const all: readonly [string, unknown][] = Object.entries(ACCOUNT_REJECTIONS);
  const isListed = (code: string) => code === 'credits_out_of_range' || listed.some((one) => one === code);
  const rows = all.map(([code, sentence]) => [code, isListed(code) ? sentence : neverRejected]);
  return Object.fromEntries(rows) as Sentences<AccountRejection, Listed>;
};

/** 422 for a time that no clock and no day of the world explain. */
const futureProblem = ({ member }: TimeInFuture): Problem<'validation_error'> =>
  invalid({ loc: ['body', member], msg: 'Lies more than a day in the future.', type: 'value_error' });

export const checkNotAhead = (at: string, now: string, member = 'occurred_at'): void => {
  const ahead = timeInFuture(at, now, member);
  if (ahead !== undefined) throw futureProblem(ahead);
};

/** Why a sale is not recorded. */
export const SALE_REJECTIONS = {
  ...accountRejections('idempotency_key_reused'),
  time_in_future: futureProblem,
  payment_claimed: ({ members }: Extract<SaleRejection, { code: 'payment_claimed' }>) =>
    problem('idempotency_key_reused', 'This payment was recorded with another payload.', { members }),
  currency_not_offered: 'The price list has no price in this currency.',
  ambiguous_minor_units: ({ currency }: Extract<SaleRejection, { code: 'ambiguous_minor_units' }>) =>
    problem(
      'ambiguous_minor_units',
      `Providers send ${currency} in different minor units: send the count of credits that the customer was ` +
        'shown, and the amount in minor units of ISO 4217.',
      { currency },
    ),
  price_mismatch: ({ expected_minor }: Extract<SaleRejection, { code: 'price_mismatch' }>) =>
    problem(
      'price_mismatch',
      `By the price list these credits cost ${String(expected_minor)} in minor units, VAT ` +
        'included. Send the count and the amount that the customer was shown.',
      { expected_minor },
    ),
  price_list_version_unknown: 'There is no such price list, or it was not in force then.',
} satisfies Sentences<SaleRejection>;

/** Why a refund is not recorded. */
export const REFUND_REJECTIONS = {
  ...accountRejections(
    'original_grant_not_found',
    'refund_mismatch',
    'refund_exceeds_original',
    'idempotency_key_reused',
    'insufficient_balance',
  ),
  time_in_future: futureProblem,
  sale_of_another_tenant: () =>
    problem('refund_mismatch', 'The sale to refund belongs to another tenant.', { reason: 'tenant' }),
} satisfies Sentences<RefundRejection>;

/** Why credits are not moved to another tenant. */
export const TRANSFER_REJECTIONS = {
  ...accountRejections('insufficient_balance', 'idempotency_key_reused'),
  transfer_to_itself: () =>
    invalid({ loc: ['body', 'to_tenant_id'], msg: 'Is the tenant itself.', type: 'value_error' }),
  tenant_not_found: 'There is no tenant to receive the credits.',
} satisfies Sentences<TransferRejection>;

/** Why a dispute, or news of one, is not recorded. */
export const DISPUTE_REJECTIONS = {
  ...accountRejections('original_grant_not_found', 'refund_exceeds_original', 'idempotency_key_reused'),
  time_in_future: neverRejected,
  sale_of_another_tenant: neverRejected,
} satisfies Sentences<RefundRejection>;

/** Why a reversal is not recorded. */
export const REVERSAL_REJECTIONS = accountRejections(
  'refund_not_found',
  'reversal_exceeds_refund',
  'idempotency_key_reused',
);

/** Why a billing config is not published. */
export const CONFIG_REJECTIONS = {
  beyond_exact: ({ at }: BillingConfigRejection) =>
    invalid({
      loc: ['body', ...at],
      msg: 'The most that can be asked for would cost more than 2^53 − 1 credits.',
      type: 'too_big',
    }),
} satisfies Sentences<BillingConfigRejection>;
