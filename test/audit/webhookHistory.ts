import { Map as ImmutableMap } from 'immutable';
import { systemClock } from '../../adapters/local/local.ts';
import { apiKeyStream } from '../../domain/apiKey.ts';
import { keptDays } from '../../domain/retention.ts';
import { deliveryIdOf } from '../../domain/webhook.ts';
import { reportAudit } from '../../src/commands/audits.ts';
import { deliveryStreams, pruneDeliveries, webhookStreams } from '../../src/commands/webhooks.ts';
import type { Parts } from '../../src/parts/parts.ts';
import { takePlace } from '../../src/writer/places.ts';
import type { Client } from '../http/support/client.ts';
import { done, metaNow } from './moneyHistory.ts';

/** A tenant that is told of its keys, of which one message fails and is sent again; and a webhook that is removed. */
export const told = async (api: Client, { log }: Parts, tenant_id: string): Promise<void> => {
  const [webhooks, deliveries] = [webhookStreams(log), deliveryStreams(log)];
  const settings = {
    url: 'https://hooks.example.com/',
    events: ['*'],
    description: null,
    low_balance_credits: 5,
  };
  const [first, second] = ['wh_first', 'wh_second'].map((webhook_id) => ({ webhook_id, tenant_id }));
  for (const name of [first!, second!]) {
    const place = { tenant_id, thing: 'webhooks', name: name.webhook_id, max: 2 };
    await takePlace({ store: log }, { ...place, meta: metaNow, isOver: () => Promise.resolve(false) });
    const data = { ...settings, ...name, secret_id: 'sec_1' };
    await webhooks.handle(name, { type: 'CreateWebhook', data, meta: metaNow() });
  }
  const rotation = { secret_id: 'sec_2', old_until: metaNow().now };
  await webhooks.handle(second!, { type: 'RotateWebhookSecret', data: rotation, meta: metaNow() });
  const { webhook } = await webhooks.stateOf('wh_second');
  const { url, told_since } = webhook!;
  const gone = { reason: 'gone', url, told_since, failing_since: told_since } as const;
  await webhooks.handle(second!, { type: 'DisableWebhook', data: gone, meta: metaNow() });
  const enabled = { ...settings, events: ['audit.finding'], enabled: true };
  await webhooks.handle(second!, { type: 'ChangeWebhook', data: enabled, meta: metaNow() });
  const made = await done(api, '/v1/api-keys', { tenant_id, role: 'tenant' });
  await done(api, '/v1/api-keys', { tenant_id, role: 'tenant' });
  const stream = apiKeyStream(String(made.body['key_id']));
  for await (const { id } of log.read(stream, { limit: 1 })) {
    const name = { ...first!, delivery_id: deliveryIdOf(id, first!.webhook_id, 'key.created') };
    const { now: attempted_at } = metaNow();
    const failed = { error: 'status', response_status: 500, duration_ms: 3, attempted_at } as const;
    const start = { ...name, attempt: 1 };
    await deliveries.handle({ type: 'StartAttempt', data: start, meta: metaNow() });
    const attempt = { ...name, ...failed, attempt: 1, next_attempt_at: attempted_at };
    await deliveries.handle({ type: 'RecordAttempt', data: attempt, meta: metaNow() });
    await deliveries.handle({ type: 'ResendDelivery', data: name, meta: metaNow() });
  }
  const last = await done(api, '/v1/api-keys', { tenant_id, role: 'tenant' });
  for await (const { id } of log.read(apiKeyStream(String(last.body['key_id'])), { limit: 1 })) {
    const data = { ...first!, delivery_id: deliveryIdOf(id, first!.webhook_id, 'key.created'), attempt: 1 };
    await deliveries.handle({ type: 'StartAttempt', data, meta: metaNow() });
    const arrived = { error: null, response_status: 200, duration_ms: 3, next_attempt_at: null };
    const attempt = { ...data, ...arrived, attempted_at: metaNow().now };
    await deliveries.handle({ type: 'RecordAttempt', data: attempt, meta: metaNow() });
  }
  // It is listed no more; those that are still to be sent are.
  const prunable = () => Promise.resolve([{ last_at: metaNow().now, deliveries: 1 }]);
  const prune = pruneDeliveries({ store: log, clock: systemClock(), prunable });
  // Of one tenant first, which is said to have fewer days; then of all.
  const days = { uploads: null, results: null, examples: null, deliveries: 1 };
  const own = ImmutableMap([[first!.tenant_id, { days, updated_at: metaNow().now, updated_by: 'k' }]]);
  for (const deliveries of [0, 1])
    await prune(keptDays({ uploads: 0, results: 1, examples: 0, deliveries }, { tenants: own }));
  const report = reportAudit({ store: log, clock: systemClock() });
  await report({ findings: 1, checks: ['balance'] });
  const test = { delivery_id: 'msg_test' };
  await webhooks.handle(second!, { type: 'TestWebhook', data: test, meta: metaNow() });
  await webhooks.handle(second!, { type: 'RemoveWebhook', meta: metaNow() });
};
