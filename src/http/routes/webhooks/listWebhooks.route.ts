import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { webhookList, webhooksQuery } from '../../webhooks/webhookSchemas.ts';

export const listWebhooks = get('/v1/webhooks', {
  summary: 'The webhooks of a tenant, newest first',
  description: 'Removed ones are not among them, and secrets are never shown again.',
  access: 'any',
  tenant: 'query',
  serviceActsForAll: true,
  query: webhooksQuery,
  reply: { status: 200, schema: webhookList },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async ({ query }, { queries }) => {
    const { limit, offset, tenant_id } = query;
    const { items, total } = await queries.webhooksOfTenant(query);
    await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
    const shown = items.map(({ events, disabled_reason, ...row }) => ({
      ...row,
      events: events.split(' '),
      disabled_reason: disabled_reason as 'failing' | 'gone' | null,
    }));
    return { items: shown, total, limit, offset };
  },
});
