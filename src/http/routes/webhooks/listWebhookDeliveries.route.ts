import { get } from '../../defineRoute.ts';
import { settleReads } from '../../reads/settledReads.ts';
import { deliveriesQuery, deliveryList, webhookParams } from '../../webhooks/webhookSchemas.ts';
import { findWebhook, shownDelivery } from '../../webhooks/webhooks.ts';

export const listWebhookDeliveries = get('/v1/webhooks/{webhook_id}/deliveries', {
  summary: 'What a webhook was told, newest first',
  description: 'Messages that wait, that arrived and that were given up, each with its last attempt.',
  access: 'any',
  params: webhookParams,
  query: deliveriesQuery,
  reply: { status: 200, schema: deliveryList },
  problems: ['webhook_not_found'],
  handle: async (request, deps) => {
    const { webhook_id, tenant_id } = await findWebhook(deps, request, request.params.webhook_id);
    await settleReads(deps.reads, request, tenant_id);
    const { limit, offset } = request.query;
    const asked = { ...request.query, webhook_id, now: deps.clock.now() };
    const { items, total } = await deps.queries.deliveriesOfWebhook(asked);
    return { items: items.map(shownDelivery), total, limit, offset };
  },
});
