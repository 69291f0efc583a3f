import type { AccountRejection } from '../../domain/account/messages.ts';
import type { BillingConfigRejection } from '../../domain/billingConfig.ts';
import { timeInFuture, type TimeInFuture } from '../commands/reference.ts';
import type { NotNow } from '../writer/decideBatch.ts';
import type { RefundRejection, SaleRejection } from '../commands/sales.ts';
import type { WorkProblem } from '../commands/workProblem.ts';
import { Problem, invalid, problem, retryLater } from '../server/problems.ts';
import type { ProblemCode } from '../problemTable.ts';

interface Rejected {
  readonly code: string;
}

/** Problems that every route with a body has. */
type OfInput = 'validation_error';

/**
 * How a rejection is answered: a code and its sentence. Members of the rejection are members there. A table for
 * some problems has no other in it.
 */
type Sentences<Rejection extends Rejected, Listed extends ProblemCode = ProblemCode> = {
  readonly [Code in Rejection['code']]:
    | (Code extends Listed ? string : never)
    | ((rejection: Extract<Rejection, { code: Code }>) => Problem<Listed | OfInput>);
};

/** In the place of a sentence for what a route's command is never refused with. */
export const neverRejected = ({ code }: Rejected): Problem<never> => {
  throw new Error(`the HTTP routes never ask for what is rejected with ${code}`);
};

/** Every reason an account has to say no: one that is not here does not compile. */
const ACCOUNT_REJECTIONS = {
  idempotency_key_reused: 'This identity belongs to another request.',
  credits_out_of_range: () =>
    invalid({ loc: ['body'], msg: 'A total would pass 2^53 − 1 credits.', type: 'too_big' }),
  original_grant_not_found: 'There is no sale with this provider and transaction.',
  refund_mismatch: ({ reason }: Extract<AccountRejection, { code: 'refund_mismatch' }>) =>
    problem('refund_mismatch', `The sale to refund has another ${reason}.`, { reason }),
  refund_exceeds_original: 'The refund is more than what is left of the sale.',
  insufficient_balance: 'The available credits do not cover this.',
  insufficient_credits: 'The available credits do not cover this.',
  plan_required: 'The plan of this tenant does not include this.',
  hold_not_open: neverRejected,
  too_many_open: neverRejected,
  burn_exceeds_hold: neverRejected,
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

/**
 * The command's result, or the problem that answers why there is none. A route that lists `Listed` compiles with
 * tables of these problems alone, and has to list `busy` where a command can be tried again.
 */
export interface DoneOr<Listed extends ProblemCode> {
  readonly doneOr: <Of extends ('busy' extends Listed ? Answer : Exclude<Answer, NotNow>)>(
    answer: Of,
    sentences: Sentences<RejectionOf<Of>, Listed>,
  ) => DoneOf<Of>;
}

/** As routes get it with their request. */
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
  payment_claimed: () => problem('idempotency_key_reused', 'This payment was recorded with another payload.'),
  currency_not_offered: 'The price list has no price in this currency.',
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
export const CONFIG_REJECTIONS = {
  beyond_exact: ({ at }: BillingConfigRejection) =>
    invalid({
      loc: ['body', ...at],
      msg: 'The most that can be asked for would cost more than 2^53 − 1 credits.',
      type: 'too_big',
    }),
} satisfies Sentences<BillingConfigRejection>;
