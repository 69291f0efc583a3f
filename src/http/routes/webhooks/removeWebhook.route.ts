import { remove } from '../../defineRoute.ts';
import { webhookParams } from '../../webhooks/webhookSchemas.ts';
import { findWebhook, WEBHOOK_REJECTIONS } from '../../webhooks/webhooks.ts';

export const removeWebhook = remove('/v1/webhooks/{webhook_id}', {
  summary: 'Remove a webhook',
  description: 'For good: its secret is removed, and what waits is not sent.',
  access: 'any',
  params: webhookParams,
  reply: { status: 204 },
  problems: ['webhook_not_found', 'busy'],
  handle: async ({ params, caller, meta, doneOr }, deps) => {
    const webhook = await findWebhook(deps, { caller }, params.webhook_id);
    const { position } = doneOr(await deps.webhooks.remove(webhook, meta), WEBHOOK_REJECTIONS);
    deps.reads.note(webhook.tenant_id, position);
    return undefined;
  },
});
