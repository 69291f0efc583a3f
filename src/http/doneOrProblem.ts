import type { AccountRejection } from '../../domain/account/commands.ts';
import type { AccountKind } from '../../domain/account/decider.ts';
import type { BillingConfigRejection } from '../../domain/billingConfig/decider.ts';
import { liesAhead, type LiesAhead } from '../commands/reference/liesAhead.ts';
import type { NotNow, Outcome } from '../commands/writer/outcome.ts';
import type { RefundRejection } from '../commands/payments/refunds.ts';
import type { SaleRejection } from '../commands/payments/sales.ts';
import type { WorkProblem } from '../commands/work/workProblem.ts';
import { Problem, invalid, problem, retryLater } from './problems.ts';
import type { ProblemCode } from '../problemTable.ts';

interface Rejected {
  readonly code: string;
}

/** How a rejection is answered: a code and its sentence. Members of the rejection are members there. */
type Sentences<Rejection extends Rejected> = {
  readonly [Code in Rejection['code']]:
    | (Code extends ProblemCode ? string : never)
    | ((rejection: Extract<Rejection, { code: Code }>) => Problem);
};

const neverRejected = ({ code }: Rejected): Problem => {
  throw new Error(`the HTTP routes never ask for what is rejected with ${code}`);
};

/** Every reason an account has to say no: one that is not here does not compile. */
const ACCOUNT_REJECTIONS: Sentences<AccountRejection> = {
  idempotency_key_reused: 'This identity belongs to another request.',
  credits_out_of_range: () =>
    invalid({ loc: ['body'], msg: 'A total would pass 2^53 − 1 credits.', type: 'too_big' }),
  original_grant_not_found: 'There is no sale with this provider and transaction.',
  refund_mismatch: ({ reason }) =>
    problem('refund_mismatch', `The sale to refund has another ${reason}.`, { reason }),
  refund_exceeds_original: 'The refund is more than what is left of the sale.',
  insufficient_balance: 'The available credits do not cover this.',
  insufficient_credits: 'The available credits do not cover this.',
  plan_required: 'The plan of this tenant does not include this.',
  hold_not_open: neverRejected,
  burn_exceeds_hold: neverRejected,
};

/** What became of a command: done, with what came of it; refused by a rule; or not now. */
type Answer =
  { readonly kind: 'done' } | { readonly kind: 'rejected'; readonly rejection: Rejected } | NotNow;
type DoneOf<Of extends Answer> = Extract<Of, { readonly kind: 'done' }>;
type RejectionOf<Of extends Answer> = Extract<Of, { readonly kind: 'rejected' }>['rejection'];

const problemOf = <Rejection extends Rejected>(
  rejection: Rejection,
  sentences: Sentences<Rejection>,
): Problem => {
  const sentence = sentences[rejection.code as Rejection['code']] as
    string | ((rejection: Rejection) => Problem);
  if (typeof sentence === 'function') return sentence(rejection);
  const { code, ...members } = rejection;
  return problem(code as ProblemCode, sentence, members);
};

const NOT_NOW: Readonly<Record<'contended' | 'busy' | 'unknown', string>> = {
  contended: 'Too many wrote at once. Send the request again.',
  busy: 'Too much is waiting, or the event log cannot be reached. Send the request again in a moment.',
  unknown: 'The event log did not answer in time. Send the request again with the same identity.',
};

/** The command's result, or the problem that answers why there is none. */
export const doneOr = <Of extends Answer>(answer: Of, sentences: Sentences<RejectionOf<Of>>): DoneOf<Of> => {
  switch (answer.kind) {
    case 'done':
      // Narrowing a type parameter does not narrow what is extracted from it.
      return answer as DoneOf<Of>;
    case 'rejected':
      throw problemOf(answer.rejection, sentences);
    case 'contended':
    case 'busy':
    case 'unknown':
      throw retryLater('busy', NOT_NOW[answer.kind]);
  }
};

/** As `doneOr`, for accounts. */
export const doneOrProblem = (outcome: Outcome<AccountKind>): DoneOf<Outcome<AccountKind>> =>
  doneOr(outcome, ACCOUNT_REJECTIONS);

/** 422 for a time that no clock and no day of the world explain. */
const aheadProblem = ({ member }: LiesAhead): Problem =>
  invalid({ loc: ['body', member], msg: 'Lies more than a day in the future.', type: 'value_error' });

export const checkNotAhead = (at: string, now: string, member = 'occurred_at'): void => {
  const ahead = liesAhead(at, now, member);
  if (ahead !== undefined) throw aheadProblem(ahead);
};

/** Why a sale is not recorded. */
export const SALE_REJECTIONS: Sentences<SaleRejection> = {
  ...ACCOUNT_REJECTIONS,
  lies_ahead: aheadProblem,
  payment_claimed: () => problem('idempotency_key_reused', 'This payment was recorded with another payload.'),
  currency_not_offered: 'The price list has no price in this currency.',
  price_mismatch: ({ expected_minor }) =>
    problem(
      'price_mismatch',
      `By the price list these credits cost ${String(expected_minor)} in minor units, VAT ` +
        'included. Send the count and the amount that the customer was shown.',
      { expected_minor },
    ),
  price_list_version_unknown: 'There is no such price list, or it was not in force then.',
};

/** Why a refund is not recorded. */
export const REFUND_REJECTIONS: Sentences<RefundRejection> = {
  ...ACCOUNT_REJECTIONS,
  lies_ahead: aheadProblem,
  sale_of_another_tenant: () =>
    problem('refund_mismatch', 'The sale to refund belongs to another tenant.', { reason: 'tenant' }),
};

/** Why work on a document was not delivered, as an answer. */
export const workFailure = (failure: WorkProblem): Problem => {
  const { code, detail } = failure;
  switch (code) {
    case 'validation_error':
      return invalid(...failure.issues);
    case 'busy':
    case 'not_ready':
    case 'shutting_down':
      return retryLater(code, detail);
    case 'rate_limited': {
      const headers = { 'Retry-After': String(failure.retry_after_seconds) };
      return new Problem(code, { detail, members: { bucket: failure.bucket }, headers });
    }
    // Nobody is there to read it, unless a proxy keeps the connection.
    case 'request_aborted':
      return retryLater('busy', detail);
    default:
      return problem(code, detail, failure.members);
  }
};

/** Why a billing config is not published. */
export const CONFIG_REJECTIONS: Sentences<BillingConfigRejection> = {
  beyond_exact: ({ at }) =>
    invalid({
      loc: ['body', ...at],
      msg: 'The most that can be asked for would cost more than 2^53 − 1 credits.',
      type: 'too_big',
    }),
};
