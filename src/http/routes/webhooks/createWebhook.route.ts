import { post } from '../../defineRoute.ts';
import { workFailure } from '../../doneOrProblem.ts';
import { createdWebhook, webhookCreateRequest } from '../../webhooks/webhookSchemas.ts';
import { settingsIn, shownWebhook, WEBHOOK_REJECTIONS, webhookOrFail } from '../../webhooks/webhooks.ts';

export const createWebhook = post('/v1/webhooks', {
  summary: 'Be told what happens',
  description:
    'Messages are signed as Standard Webhooks says, with the secret that is in this answer alone. ' +
    'Whatever happens from now on is told.',
  access: 'any',
  tenant: 'body',
  serviceActsForAll: true,
  body: webhookCreateRequest,
  reply: { status: 201, schema: createdWebhook },
  problems: [
    'admin_required',
    'unsafe_webhook_url',
    'too_many_webhooks',
    'field_encryption_not_configured',
    'webhook_not_found',
    'storage_error',
    'busy',
  ],
  reads: 'tenant',
  handle: async ({ body, caller, meta, doneOr }, deps) => {
    const { tenant_id, ...wanted } = body;
    const settings = settingsIn(deps, { caller }, wanted);
    const made = await deps.webhooks.create(tenant_id, settings, meta);
    if (made.kind === 'problem') throw workFailure(made);
    const { state, position } = doneOr(made.outcome, WEBHOOK_REJECTIONS);
    deps.reads.note(tenant_id, position);
    return { ...shownWebhook(webhookOrFail(state), null), secret: made.secret };
  },
});
