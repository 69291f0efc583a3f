import type { AccountRejection } from '../../domain/account/commands.ts';
import type { BillingConfigRejection } from '../../domain/billingConfig/decider.ts';
import type { Outcome } from '../commands/writer/outcome.ts';
import type { WorkProblem } from '../commands/work/workProblem.ts';
import { Problem, invalid, problem, retryLater } from './problems.ts';
import type { ProblemCode, RequestIssue } from './problems.ts';

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

type Done<State, Event, Rejection> = Extract<Outcome<State, Event, Rejection>, { kind: 'done' }>;

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
export const doneOr = <State, Event, Rejection extends Rejected>(
  outcome: Outcome<State, Event, Rejection>,
  sentences: Sentences<Rejection>,
): Done<State, Event, Rejection> => {
  switch (outcome.kind) {
    case 'done':
      return outcome;
    case 'rejected':
      throw problemOf(outcome.rejection, sentences);
    case 'contended':
    case 'busy':
    case 'unknown':
      throw retryLater('busy', NOT_NOW[outcome.kind]);
  }
};

/** As `doneOr`, for accounts. */
export const doneOrProblem = <State, Event>(
  outcome: Outcome<State, Event, AccountRejection>,
): Done<State, Event, AccountRejection> => doneOr(outcome, ACCOUNT_REJECTIONS);

const issuePathOf = (members: WorkProblem['members']): readonly (string | number)[] => {
  const loc = members?.['loc'];
  return Array.isArray(loc) ? (loc as readonly (string | number)[]) : ['body'];
};

/** What a caller is told to wait is a header. */
const afterSeconds = ({ retry_after_seconds, ...members }: NonNullable<WorkProblem['members']> = {}) => ({
  members,
  headers: { 'Retry-After': typeof retry_after_seconds === 'number' ? String(retry_after_seconds) : '1' },
});

/** Why work on a document was not delivered, as an answer. */
export const workFailure = ({ code, detail, members }: WorkProblem): Problem => {
  switch (code) {
    case 'validation_error':
      if (members?.['issues'] !== undefined)
        return invalid(...(members['issues'] as readonly RequestIssue[]));
      return invalid({ loc: issuePathOf(members), msg: detail, type: 'value_error' });
    case 'busy':
    case 'not_ready':
    case 'shutting_down':
      return retryLater(code, detail);
    case 'rate_limited':
      return new Problem(code, { detail, ...afterSeconds(members) });
    // Nobody is there to read it, unless a proxy keeps the connection.
    case 'request_aborted':
      return retryLater('busy', detail);
    default:
      return problem(code, detail, members);
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

export const priceProblem = (rejection: Rejected & Readonly<Record<string, unknown>>): Problem => {
  const { code, ...members } = rejection;
  switch (code) {
    case 'currency_not_offered':
      return problem(code, 'The price list has no price in this currency.', members);
    case 'price_mismatch':
      return problem(
        code,
        `By the price list these credits cost ${String(members['expected_minor'])} in minor units, VAT included. Send the count and the amount that the customer was shown.`,
        members,
      );
    case 'price_list_version_unknown':
      return problem(code, 'There is no such price list, or it was not in force then.', members);
    default:
      return new Problem('validation_error', {
        detail: [{ loc: ['body'], msg: `The sale cannot be priced: ${code}.`, type: 'value_error' }],
      });
  }
};
