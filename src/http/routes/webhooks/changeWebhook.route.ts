import { put } from '../../defineRoute.ts';
import { webhookBody, webhookChangeRequest, webhookParams } from '../../webhooks/webhookSchemas.ts';
import {
  findWebhook,
  settingsIn,
  shownWebhook,
  WEBHOOK_REJECTIONS,
  webhookOrFail,
} from '../../webhooks/webhooks.ts';

export const changeWebhook = put('/v1/webhooks/{webhook_id}', {
  summary: 'Change, disable or enable a webhook',
  description:
    'All settings are replaced. What waits is sent to the new URL; while it is disabled nothing new is kept for it.',
  access: 'any',
  params: webhookParams,
  body: webhookChangeRequest,
  reply: { status: 200, schema: webhookBody },
  problems: ['webhook_not_found', 'admin_required', 'unsafe_webhook_url', 'busy'],
  handle: async ({ params, body, caller, meta, doneOr }, deps) => {
    const { enabled, ...wanted } = body;
    const webhook = await findWebhook(deps, { caller }, params.webhook_id);
    const settings = { ...settingsIn(deps, { caller }, wanted), enabled };
    const { state, position } = doneOr(
      await deps.webhooks.change(webhook, settings, meta),
      WEBHOOK_REJECTIONS,
    );
    deps.reads.note(webhook.tenant_id, position);
    await deps.reads.settle(webhook.tenant_id);
    const row = await deps.queries.failingSince(webhook.webhook_id);
    return shownWebhook(webhookOrFail(state), row?.failing_since ?? null);
  },
});
