import type { Registry } from 'prom-client';
import type { AttemptError } from '../../domain/webhook.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import { disabledWebhooks, waitingDeliveries } from '../../projections/webhooks.ts';
import { pulledGauges } from './gauge.ts';
import { metersOn } from './meters.ts';
import { pulled, type PullOptions } from './pulled.ts';

/** Counts what became of each attempt. */
export const webhookAttempts = (register: Registry): ((error: AttemptError | null) => void) => {
  const attempts = metersOn(register).counter(
    'quire_webhook_attempts_total',
    'Attempts to send a message to a webhook, by what became of them.',
    'outcome',
  );
  attempts.inc({ outcome: 'delivered' }, 0);
  return (error) => attempts.inc({ outcome: error ?? 'delivered' });
};

/** Gauges of what waits to be sent; they vanish while Postgres is away. */
export const webhookGauges = (
  register: Registry,
  { sql, now }: { readonly sql: SqlTx; readonly now: () => string },
  options?: PullOptions,
): void => {
  const [waitingAt, disabledNow] = [waitingDeliveries(sql), disabledWebhooks(sql)];
  const stock = pulled(async () => {
    const at = now();
    const [waiting, disabled] = await Promise.all([waitingAt(at), disabledNow()]);
    return { at: Date.parse(at), waiting, disabled: disabled.count };
  }, options);
  const show = pulledGauges(register, stock);
  show(
    'quire_webhook_waiting',
    'Messages that wait to be sent to an enabled webhook.',
    ({ waiting }) => waiting.count,
  );
  show(
    'quire_webhook_oldest_waiting_seconds',
    'Age of the oldest of them; 0 when none waits.',
    ({ at, waiting: { oldest_at: oldest } }) =>
      oldest === null ? 0 : Math.max(0, (at - Date.parse(oldest)) / 1000),
  );
  show(
    'quire_webhooks_disabled',
    'Webhooks that the service disabled since they failed, and that nobody has enabled again.',
    ({ disabled }) => disabled,
  );
};
