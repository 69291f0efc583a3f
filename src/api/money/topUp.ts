import { z } from 'zod';
import { MOVEMENT_MAX } from '../../../domain/kernel/amounts.ts';
import type { TopUpRejection, TopUpWanted } from '../../../domain/topUp.ts';
import type { TopUpCommands } from '../../commands/apiKeys.ts';
import type { Queries } from '../../queries/queries.ts';
import { invalid, problem, type Sentences } from '../../server/problems.ts';
import { routesOver } from '../../server/routes.ts';
import type { AccountWriter } from '../../writer/accountWriter.ts';
import {
  checkKnown,
  creditsOut,
  instantOut,
  knownCurrencyIn,
  occurredIn,
  plainText,
  tenantParams,
  whoOut,
} from '../schemas/basics.ts';

/** What these routes need. */
export interface TopUpDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant'>;
  readonly accounts: AccountWriter;
  readonly topUps: TopUpCommands;
}

const { get, put } = routesOver<TopUpDeps>();

const creditsIn = z.int().min(1).max(MOVEMENT_MAX);

const ACTIVE = 'False: the consent was taken back, or never given.';
const THRESHOLD = 'Credits are bought while the balance is below this.';
const MONTHLY_MAX = 'The most credits that top-ups buy in a month, UTC.';
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

const topUpResponse = z
  .strictObject({
    tenant_id: z.string(),
    active: z.boolean().meta({ description: ACTIVE }),
    threshold_credits: creditsOut.nullable().meta({ description: THRESHOLD }),
    credits: creditsOut.nullable(),
    currency: z.string().nullable(),
    monthly_credits_max: creditsOut.nullable().meta({ description: MONTHLY_MAX }),
    payer: z.string().nullable().meta({ description: PAYER }),
    payment_method: z.string().nullable().meta({ description: METHOD }),
    consented_at: instantOut.nullable().meta({ description: CONSENTED_AT }),
    balance_credits: creditsOut,
    updated_at: instantOut.nullable(),
    updated_by: whoOut,
  })
  .meta({ id: 'TopUp', description: 'Members are null where nothing was ever set.' });

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

const answerOf = async (
  { accounts }: Pick<TopUpDeps, 'accounts'>,
  tenant_id: string,
  { set }: Awaited<ReturnType<TopUpCommands['stateOf']>>,
) => {
  const { answer: balance_credits } = await accounts.ask(tenant_id, ({ balance }) => balance, 0);
  return { tenant_id, ...(set ?? NOTHING_SET), balance_credits };
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
