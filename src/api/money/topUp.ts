import { z } from 'zod';
import { MOVEMENT_MAX } from '../../../domain/kernel/amounts.ts';
import { type TopUpRejection, topUpOutcome, type TopUpWanted } from '../../../domain/topUp.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import type { TopUpCommands } from '../../commands/apiKeys.ts';
import type { LogToRead } from '../../queries/log.ts';
import type { Queries } from '../../queries/queries.ts';
import type { paymentNamed as named } from '../../commands/money/payments.ts';
import { invalid, problem, type Sentences } from '../../server/problems.ts';
import { routesOver } from '../../server/routes.ts';
import type { AccountWriter } from '../../writer/accountWriter.ts';
import { withTexts } from '../../writer/vault.ts';
import {
  checkKnown,
  creditsOut,
  instantIn,
  instantOut,
  knownCurrencyIn,
  occurredIn,
  plainText,
  tenantParams,
  whoOut,
} from '../schemas/basics.ts';
import { checkNotAhead } from '../schemas/rejections.ts';
import { provider, transaction } from './credits.ts';

/** What these routes need. */
export interface TopUpDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant'>;
  readonly accounts: AccountWriter;
  readonly topUps: TopUpCommands;
  readonly log: Pick<LogToRead, 'vault'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly paymentNamed: ReturnType<typeof named>;
}

const { get, post, put } = routesOver<TopUpDeps>();

const creditsIn = z.int().min(1).max(MOVEMENT_MAX);

const ACTIVE = 'False: the consent was taken back, or never given, or the tenant was erased.';
const THRESHOLD = 'Credits are bought while the balance is below this.';
const MONTHLY_MAX = 'The most credits that top-ups of the tenant buy in a month, UTC, whoever paid for them.';
const CONSENTED_AT = 'When the payer agreed.';
const PAYER = 'Customer at the payment provider, as `cus_…`.';
const METHOD = 'What is charged, a name of the payment provider as `pm_…`.';

const topUpRequest = z
  .strictObject({
    active: z.boolean().meta({ description: ACTIVE }),
    threshold_credits: creditsIn.meta({ description: THRESHOLD }),
    credits: creditsIn.meta({ description: 'Bought at a time.' }),
    currency: knownCurrencyIn,
    monthly_credits_max: creditsIn.meta({ description: `${MONTHLY_MAX} At least \`credits\`.` }),
    payer: plainText(1, 255)
      .nullish()
      .meta({ description: `${PAYER} Left out: as before.` }),
    payment_method: plainText(1, 255)
      .nullish()
      .meta({ description: `${METHOD} Left out: as before.` }),
    consented_at: occurredIn.nullish().meta({ description: `${CONSENTED_AT} Left out: now.` }),
  })
  .superRefine(({ credits, monthly_credits_max: most }, context) => {
    if (credits > most)
      context.addIssue({ code: 'custom', path: ['monthly_credits_max'], message: 'Less than `credits`.' });
  })
  .meta({ id: 'TopUpRequest', description: 'All of the consent: it replaces what was set before.' });

const OUTCOME =
  '`charged`: credits were bought. `declined`: the card was declined, or the bank wants the payer. `limit`: the ' +
  'maximum of the month has no room. `needs_a_person`: it would be refused again as it is.';
const REASON =
  'Code of the provider, as `insufficient_funds`, or of what refused it before, as `price_not_chargeable`; null: ' +
  'there is none.';
const NEXT_ATTEMPT = 'When it is tried again by itself; null: not before somebody changes something.';

const lastAttemptOut = z
  .strictObject({
    outcome: topUpOutcome.meta({ description: OUTCOME }),
    provider: z.string().nullable(),
    provider_txn_id: z.string().nullable().meta({ description: 'The payment; null: none was made.' }),
    reason: z.string().nullable().meta({ description: REASON }),
    attempted_at: instantOut,
    next_attempt_at: instantOut.nullable().meta({ description: NEXT_ATTEMPT }),
  })
  .nullable()
  .meta({
    id: 'TopUpAttempt',
    description:
      'What became of the latest top-up that was due; null: none was told since a consent was given.',
  });

const topUpResponse = z
  .strictObject({
    tenant_id: z.string(),
    active: z.boolean().meta({ description: ACTIVE }),
    threshold_credits: creditsOut.nullable().meta({ description: THRESHOLD }),
    credits: creditsOut.nullable().meta({ description: 'Bought at a time.' }),
    currency: z.string().nullable(),
    monthly_credits_max: creditsOut.nullable().meta({ description: MONTHLY_MAX }),
    payer: z.string().nullable().meta({ description: PAYER }),
    payment_method: z.string().nullable().meta({ description: METHOD }),
    consented_at: instantOut.nullable().meta({ description: CONSENTED_AT }),
    former_payers: z.array(z.string()).meta({
      description: 'Customers that paid before: their top-ups of this month count as well.',
    }),
    last_attempt: lastAttemptOut,
    balance_credits: creditsOut,
    as_of: instantOut.meta({ description: 'When the balance was read, by the clock of the service.' }),
    updated_at: instantOut.nullable().meta({ description: 'When it was set last; null: never.' }),
    updated_by: whoOut,
  })
  .meta({
    id: 'TopUp',
    description: 'Members are null where nothing was ever set. Who pays is null once the tenant was erased.',
  });

const NOTHING_SET = {
  active: false,
  threshold_credits: null,
  credits: null,
  currency: null,
  monthly_credits_max: null,
  payer: null,
  payment_method: null,
  consented_at: null,
  updated_at: null,
  updated_by: null,
};

type State = Awaited<ReturnType<TopUpCommands['stateOf']>>;

/** A state with texts: those that were erased are null. */
interface Shown extends Pick<State, 'set' | 'lastAttempt'> {
  readonly formerPayers: readonly { readonly payer: string | null }[];
}

/** What is left of a consent: after the tenant's erasure nobody pays, until an admin key names somebody. */
const shown = <Set extends { readonly active: boolean; readonly payer: string | null }>(set: Set) => ({
  ...set,
  active: set.active && set.payer !== null,
});

const attemptShown = ({
  told_at: _,
  told_by: __,
  ...attempt
}: NonNullable<State['lastAttempt']>): z.input<typeof lastAttemptOut> => attempt;

const answerOf = async (
  { accounts, log, clock }: Pick<TopUpDeps, 'accounts' | 'log' | 'clock'>,
  tenant_id: string,
  state: State,
) => {
  const as_of = clock.now();
  const { answer: balance_credits } = await accounts.ask(tenant_id, ({ balance }) => balance, 0);
  const { set, formerPayers, lastAttempt }: Shown = await withTexts(log, state);
  const earlier = formerPayers.map(({ payer }) => payer).filter((payer) => payer !== set?.payer);
  const former_payers = [...new Set(earlier)].filter((payer) => payer !== null);
  const last_attempt = lastAttempt === null ? null : attemptShown(lastAttempt);
  return { tenant_id, ...shown(set ?? NOTHING_SET), former_payers, last_attempt, balance_credits, as_of };
};

export const getTopUp = get(
  '/v1/billing/top-up/{tenant_id}',
  {
    summary: "A tenant's consent to top-ups, and its balance",
    description: 'Both as the log has them at this moment. `quire payments serve` decides by them.',
    access: 'any_or_seller',
    tenant: 'path',
    params: tenantParams,
    reply: { status: 200, schema: topUpResponse },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ params: { tenant_id } }, deps) => {
    const state = await deps.topUps.stateOf(tenant_id);
    await checkKnown(deps, tenant_id, { isEmpty: state.set === null });
    return answerOf(deps, tenant_id, state);
  },
);

const REJECTIONS = {
  payer_missing: () =>
    invalid({
      loc: ['body', 'payer'],
      msg: 'Nobody pays yet: send `payer` and `payment_method`.',
      type: 'missing',
    }),
  payer_refused: () =>
    problem(
      'admin_required',
      'Who pays is named, and a consent that was taken back is given again, with an admin key.',
    ),
  consent_missing: () =>
    invalid({
      loc: ['path', 'tenant_id'],
      msg: 'Nobody has agreed to top-ups of this tenant.',
      type: 'value_error',
    }),
} satisfies Sentences<TopUpRejection>;

export const setTopUp = put(
  '/v1/billing/top-up/{tenant_id}',
  {
    summary: "Replace a tenant's consent to top-ups",
    description:
      'The payer’s standing consent to buy credits whenever the balance is below a threshold, with a maximum a ' +
      'month. Only an admin key names who pays, and gives again a consent that was taken back; the tenant’s own ' +
      'key changes the figures and takes the consent back. ' +
      '`quire payments serve` charges; the service itself never does.',
    access: 'any',
    tenant: 'path',
    params: tenantParams,
    body: topUpRequest,
    reply: { status: 200, schema: topUpResponse },
    problems: ['tenant_not_found', 'admin_required', 'busy'],
    reads: 'tenant',
  },
  async ({ params: { tenant_id }, body, caller, meta, doneOr }, deps) => {
    await checkKnown(deps, tenant_id, { isEmpty: true });
    const { payer = null, payment_method = null, consented_at = null, ...figures } = body;
    const wanted: TopUpWanted = { ...figures, payer, payment_method, consented_at };
    const set = await deps.topUps.set({ tenant_id, ...wanted, mayNamePayer: caller.role === 'admin' }, meta);
    return answerOf(deps, tenant_id, doneOr(set, REJECTIONS).state);
  },
);

const attemptRequest = z
  .strictObject({
    outcome: topUpOutcome.meta({ description: OUTCOME }),
    provider: provider.nullish(),
    provider_txn_id: transaction.nullish(),
    reason: z
      .string()
      .regex(/^[a-z0-9_]{1,64}$/, { error: 'Send a code of the provider, as `insufficient_funds`.' })
      .nullish()
      .meta({ description: REASON }),
    attempted_at: occurredIn.meta({ description: 'When it was tried, by the clock of the provider.' }),
    next_attempt_at: instantIn.nullish().meta({ description: NEXT_ATTEMPT }),
  })
  .superRefine(({ outcome, provider: by, provider_txn_id: id }, context) => {
    if (['charged', 'declined'].includes(outcome) && (by == null || id == null))
      context.addIssue({
        code: 'custom',
        path: [by == null ? 'provider' : 'provider_txn_id'],
        message: 'Which payment it was is missing.',
      });
  })
  .meta({ id: 'TopUpAttemptRequest' });

export const tellTopUp = post(
  '/v1/billing/top-up/{tenant_id}/attempts',
  {
    summary: 'Tell what became of a top-up that was due',
    description:
      '`quire payments serve` tells it. An attempt that is older than the latest, or is told again, changes nothing. ' +
      'A payment that was charged is in the books already.',
    access: 'admin_or_seller',
    tenant: 'path',
    params: tenantParams,
    body: attemptRequest,
    reply: { status: 200, schema: topUpResponse },
    problems: ['tenant_not_found', 'admin_required', 'payment_not_found', 'busy'],
    reads: 'tenant',
  },
  async ({ params: { tenant_id }, body, meta, doneOr }, deps) => {
    await checkKnown(deps, tenant_id, { isEmpty: true });
    const { outcome, provider: by = null, provider_txn_id = null, reason = null, attempted_at } = body;
    if (outcome === 'charged' && by !== null && provider_txn_id !== null) {
      const booked = await deps.paymentNamed({ provider: by, provider_txn_id });
      if (booked?.tenant_id !== tenant_id)
        throw problem('payment_not_found', 'No payment of this tenant is booked under this transaction.');
    }
    checkNotAhead(attempted_at, meta.now, 'attempted_at');
    const { next_attempt_at = null } = body;
    const attempt = { outcome, provider: by, provider_txn_id, reason, attempted_at, next_attempt_at };
    const told = await deps.topUps.tell({ tenant_id, ...attempt }, meta);
    return answerOf(deps, tenant_id, doneOr(told, REJECTIONS).state);
  },
);
