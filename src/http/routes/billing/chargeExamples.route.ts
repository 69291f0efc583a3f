import type { z } from 'zod';
import type { ChargeCredits } from '../../../../domain/account/messages.ts';
import type { AccountKind } from '../../../../domain/account/account.ts';
import type { BillingConfig } from '../../../../domain/billingConfig.ts';
import { fingerprintOf } from '../../../../domain/kernel/chain.ts';
import { jobIdOfArtifact } from '../../../../domain/trainingJob.ts';
import type { Outcome } from '../../../writer/decideBatch.ts';
import type { ApiDeps } from '../../apiDeps.ts';
import { post } from '../../defineRoute.ts';
import { accountRejections } from '../../doneOrProblem.ts';
import { activeConfig } from '../../../commands/reference.ts';
import { problem } from '../../problems.ts';
import { examplesChargeRequest, examplesChargeResponse } from '../../wire/training.ts';

/** What was charged now, or by the request that this one repeats. */
const chargeIn = ({ events, state }: Extract<Outcome<AccountKind>, { kind: 'done' }>, key: string) => {
  const event = events.find(({ type }) => type === 'CreditsBurned');
  const charge = event?.type === 'CreditsBurned' ? event.data : state.charges.get(key);
  if (charge === undefined) throw new Error('a charge that was made is not in its account');
  return { charge, charged: event !== undefined };
};

type ExamplesCharge = z.output<typeof examplesChargeRequest>;

/** 404 for a job or an artifact that is not the tenant's: a charge books what is. */
const checkOwned = async (
  { pipelines: { jobs, artifacts } }: ApiDeps,
  { tenant_id, job_id, artifact_id }: ExamplesCharge,
): Promise<void> => {
  if (job_id != null && (await jobs.stateOf(job_id)).accepted?.tenant_id !== tenant_id)
    throw problem('job_not_found', 'There is no such training job of this tenant.');
  if (artifact_id != null && (await artifacts.find(tenant_id, artifact_id)) === undefined)
    throw problem('artifact_not_found', 'There is no such artifact of this tenant.');
};

interface ChargeFacts extends Pick<BillingConfig, 'terms' | 'version'> {
  readonly meta: ChargeCredits['meta'];
  readonly usage_id: string;
  readonly api_key_id: string;
}

const chargeOf = (
  { tenant_id, idempotency_key, job_id, artifact_id, examples_count }: ExamplesCharge,
  { meta, terms, version, usage_id, api_key_id }: ChargeFacts,
): ChargeCredits => ({
  type: 'ChargeCredits',
  meta,
  data: {
    tenant_id,
    usage_id,
    idempotency_key,
    fingerprint: fingerprintOf({
      kind: 'examples charge',
      job_id: job_id ?? null,
      artifact_id: artifact_id ?? null,
      examples_count: examples_count ?? null,
    }),
    credits: terms.examples_export_fee_credits,
    operation: 'examples_export',
    category: 'training',
    billing_type: 'full_service',
    billing_config_version: version,
    paid_plan_required: true,
    project_id: 'default',
    task_id: 'default',
    document_id: null,
    job_id: job_id ?? (artifact_id == null ? null : jobIdOfArtifact(artifact_id)),
    api_key_id,
  },
});

const REJECTIONS = accountRejections('plan_required', 'insufficient_credits', 'idempotency_key_reused');

export const chargeExamples = post('/v1/billing/dspy-examples-charge', {
  summary: 'Charge the flat fee for an export of examples',
  description:
    'Idempotent on `idempotency_key` for ever: a repeat answers with the original and ' +
    '`charged: false`. The fee is that of the billing config in force at the first request.',
  access: 'any',
  tenant: 'body',
  body: examplesChargeRequest,
  reply: { status: 200, schema: examplesChargeResponse },
  problems: [
    'job_not_found',
    'artifact_not_found',
    'plan_required',
    'insufficient_credits',
    'idempotency_key_reused',
    'busy',
  ],
  handle: async ({ body, caller, meta, doneOr }, deps) => {
    const { tenant_id, idempotency_key } = body;
    // A key that was used is answered by its charge.
    const { charges } = await deps.accounts.stateOf(tenant_id);
    if (!charges.has(idempotency_key)) await checkOwned(deps, body);
    const { terms, version } = await activeConfig(deps.reference);
    const command = chargeOf(body, {
      meta,
      terms,
      version,
      usage_id: deps.clock.newId('use'),
      api_key_id: caller.key_id,
    });
    const done = doneOr(await deps.accounts.execute(command), REJECTIONS);
    deps.reads.note(tenant_id, done.position);
    const { charge, charged } = chargeIn(done, idempotency_key);
    return {
      charge_id: charge.usage_id,
      tenant_id,
      idempotency_key,
      charged,
      credits_charged: charge.credits,
      balance_credits: done.state.balance,
      created_at: charge.created_at,
    };
  },
});
