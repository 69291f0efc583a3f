import { get } from '../../defineRoute.ts';
import { settleReads } from '../../reads/settledReads.ts';
import { webhookBody, webhookParams } from '../../webhooks/webhookSchemas.ts';
import { findWebhook, shownWebhook } from '../../webhooks/webhooks.ts';

export const getWebhook = get('/v1/webhooks/{webhook_id}', {
  summary: 'A webhook, and whether it works',
  description:
    '`failing_since` says since when nothing arrives, and `disabled_reason` why nothing is sent any more.',
  access: 'any',
  params: webhookParams,
  reply: { status: 200, schema: webhookBody },
  problems: ['webhook_not_found'],
  handle: async (request, deps) => {
    const webhook = await findWebhook(deps, request, request.params.webhook_id);
    await settleReads(deps.reads, request, webhook.tenant_id);
    const row = await deps.queries.failingSince(webhook.webhook_id);
    return shownWebhook(webhook, row?.failing_since ?? null);
  },
});
