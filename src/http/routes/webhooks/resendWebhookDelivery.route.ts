import { post } from '../../defineRoute.ts';
import { neverRejected } from '../../doneOrProblem.ts';
import { problem } from '../../problems.ts';
import { settleReads } from '../../reads/settledReads.ts';
import { deliveryBody, deliveryParams } from '../../webhooks/webhookSchemas.ts';
import { findWebhook, shownDelivery } from '../../webhooks/webhooks.ts';

const deliveryNotFound = () => problem('delivery_not_found', 'There is no such delivery of this webhook.');

export const resendWebhookDelivery = post('/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/resend', {
  summary: 'Send a message again',
  description:
    'With the same ID, whatever became of it, and tried for three days more. It is sent after what already waits.',
  access: 'any',
  params: deliveryParams,
  reply: { status: 202, schema: deliveryBody },
  problems: ['webhook_not_found', 'delivery_not_found', 'busy'],
  handle: async (request, deps) => {
    const { params, meta, doneOr } = request;
    const { webhook_id, tenant_id } = await findWebhook(deps, request, params.webhook_id);
    const find = () => deps.queries.deliveryOfWebhook(webhook_id, params.delivery_id, meta.now);
    if ((await find()) === undefined) throw deliveryNotFound();
    const name = { webhook_id, tenant_id, delivery_id: params.delivery_id };
    const { position } = doneOr(await deps.webhooks.resend(name, meta), { attempt_taken: neverRejected });
    deps.reads.note(tenant_id, position);
    await settleReads(deps.reads, request, tenant_id);
    const row = await find();
    if (row === undefined) throw deliveryNotFound();
    return shownDelivery(row);
  },
});
