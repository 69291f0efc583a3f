import { post } from '../../defineRoute.ts';
import { workFailure } from '../../doneOrProblem.ts';
import { rotatedSecret, rotateSecretRequest, webhookParams } from '../../webhooks/webhookSchemas.ts';
import { findWebhook, WEBHOOK_REJECTIONS, webhookOrFail } from '../../webhooks/webhooks.ts';

export const rotateWebhookSecret = post('/v1/webhooks/{webhook_id}/rotate-secret', {
  summary: 'Give a webhook a new secret',
  description:
    'Both secrets sign until `old_secret_until`, so that a receiver can change over without missing anything. ' +
    'A second rotation within that time drops the oldest.',
  access: 'any',
  params: webhookParams,
  body: rotateSecretRequest,
  reply: { status: 200, schema: rotatedSecret },
  problems: ['webhook_not_found', 'field_encryption_not_configured', 'storage_error', 'busy'],
  handle: async ({ params, body, caller, meta, doneOr }, deps) => {
    const webhook = await findWebhook(deps, { caller }, params.webhook_id);
    const made = await deps.webhooks.rotate(webhook, body.keep_old_seconds * 1000, meta);
    if (made.kind === 'problem') throw workFailure(made);
    const { state, position } = doneOr(made.outcome, WEBHOOK_REJECTIONS);
    deps.reads.note(webhook.tenant_id, position);
    const { webhook_id, old_secret } = webhookOrFail(state);
    return { webhook_id, secret: made.secret, old_secret_until: old_secret?.until ?? meta.now };
  },
});
