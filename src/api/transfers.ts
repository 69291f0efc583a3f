import { z } from 'zod';
import { MOVEMENT_MAX } from '../../domain/kernel/amounts.ts';
import type { transferCredits as transfer } from '../commands/transfers.ts';
import type { ReadYourWrites } from '../queries/queries.ts';
import { KEPT_A_DAY, routesOver } from '../server/routes.ts';
import { invalid } from '../server/problems.ts';
import { creditsOut, instantOut, plainText, tenantIdText, tenantParams } from './basics.ts';
import { TRANSFER_REJECTIONS } from './rejections.ts';

/** What this route needs. */
export interface TransfersDeps {
  readonly transferCredits: ReturnType<typeof transfer>;
  readonly reads: ReadYourWrites;
}

const { post } = routesOver<TransfersDeps>();

const transferRequest = z
  .strictObject({
    to_tenant_id: tenantIdText.meta({ description: 'Tenant that receives the credits; it exists.' }),
    credits: z
      .int()
      .min(1)
      .max(MOVEMENT_MAX)
      .nullish()
      .meta({ description: 'Credits to move, at most the available ones. Either this or `all`.' }),
    all: z.literal(true).optional().meta({ description: 'All credits that are available.' }),
    reason: plainText(1, 500),
  })
  .superRefine(({ credits, all }, context) => {
    if ((credits == null) === (all === undefined))
      context.addIssue({ code: 'custom', path: ['credits'], message: 'Either credits or all is required.' });
  })
  .meta({ id: 'TransferCreditsRequest' });

const transferResponse = z
  .strictObject({
    transfer_id: z.string(),
    tenant_id: z.string(),
    to_tenant_id: z.string(),
    credits: creditsOut,
    reason: z.string(),
    balance_credits: creditsOut.meta({ description: 'Of the tenant that sent them.' }),
    to_balance_credits: creditsOut.meta({ description: 'Of the tenant that received them.' }),
    credited: z.boolean(),
    created_at: instantOut,
  })
  .meta({ id: 'TransferCreditsResponse' });

export const transferCredits = post(
  '/v1/admin/tenants/{tenant_id}/transfer-credits',
  {
    summary: 'Move credits to another tenant, with what was paid for them',
    description:
      'For tenants that are merged. The oldest credits go first, with the price, rate and payment of their sale: no ' +
      'revenue is recognised by the move, and a refund of the payment, which names the tenant that bought, brings ' +
      'its credits back. Send an `Idempotency-Key`: a repeat, however late, answers with `credited: false`.',
    access: 'admin',
    tenant: 'path',
    idempotency: KEPT_A_DAY,
    params: tenantParams,
    body: transferRequest,
    reply: { status: 200, schema: transferResponse },
    problems: ['tenant_not_found', 'insufficient_balance', 'idempotency_key_reused', 'busy'],
  },
  async ({ params: { tenant_id }, body, idempotency_key, meta, doneOr }, deps) => {
    const { to_tenant_id, credits, reason } = body;
    if (to_tenant_id === tenant_id)
      throw invalid({ loc: ['body', 'to_tenant_id'], msg: 'Is the tenant itself.', type: 'value_error' });
    const asked = { tenant_id, to_tenant_id, credits: credits ?? null, reason, idempotency_key };
    const done = doneOr(await deps.transferCredits(asked, meta), TRANSFER_REJECTIONS);
    deps.reads.note(tenant_id, done.position);
    deps.reads.note(to_tenant_id, done.to_position);
    const { transfer_id, credits: moved, created_at } = done.transfer;
    return {
      ...{ transfer_id, tenant_id, to_tenant_id, credits: moved, reason: done.transfer.reason },
      ...{ balance_credits: done.balance, to_balance_credits: done.to_balance },
      ...{ credited: done.credited, created_at },
    };
  },
);
