import { laterBy } from '../../../domain/kernel/instant.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import type { WebhookAnswer, WebhookTransport } from '../../../domain/ports/webhookTransport.ts';
import { signingSecrets, type Webhook } from '../../../domain/webhook/decider.ts';
import { isDue } from '../../../domain/webhookDelivery/decider.ts';
import type { AttemptError } from '../../../domain/webhookDelivery/events.ts';
import { pauseAfter, triedUntil } from '../../../domain/webhookDelivery/schedule.ts';
import { signedHeaders } from '../../commands/webhooks/signature.ts';
import { openSecret, type WebhookSecretDeps } from '../../commands/webhooks/webhookSecrets.ts';
import type { DeliveryStreams, WebhookStreams } from '../../commands/webhooks/webhookStreams.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';

/** A message for a webhook, as the read model has it. */
export interface DueDelivery {
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly tenant_id: string;
  readonly body: string;
}

export interface SendDeps extends Pick<WebhookSecretDeps, 'objects' | 'box'> {
  readonly clock: Clock;
  readonly streams: WebhookStreams;
  readonly deliveries: DeliveryStreams;
  readonly transport: WebhookTransport;
  /** Since when each attempt at a webhook has failed; null or undefined: none is known that did. */
  readonly failingSince: (
    webhookId: string,
  ) => Promise<{ readonly failing_since: string | null } | undefined>;
  /** 0 to 1, for pauses. */
  readonly random: () => number;
  /** Told of each attempt. */
  readonly onAttempt: (error: AttemptError | null, seconds: number) => void;
}

/** `skipped`: the log says that it is not to be sent now, or another sender was faster. */
export type SendOutcome =
  | { readonly kind: 'skipped' }
  | { readonly kind: 'delivered' | 'failed'; readonly position: bigint | undefined };

const SKIPPED = { kind: 'skipped' } as const;

interface Answer extends Omit<WebhookAnswer, 'error'> {
  readonly error: AttemptError | null;
}

const SECRET_LOST: Answer = { error: 'secret_lost', response_status: null, retryAfterMs: 0 };

const request = async (
  deps: SendDeps,
  { delivery, webhook }: { readonly delivery: DueDelivery; readonly webhook: Webhook },
  signal: AbortSignal,
): Promise<Answer> => {
  const now = deps.clock.now();
  const { tenant_id } = webhook;
  const ids = signingSecrets(webhook, now);
  const opened = await Promise.all(ids.map((secret_id) => openSecret(deps, { tenant_id, secret_id })));
  const secrets = opened.filter((secret) => secret !== undefined);
  if (secrets.length === 0) return SECRET_LOST;
  const { delivery_id: id, body } = delivery;
  const timestamp = Math.floor(Date.parse(now) / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Quire-Webhooks/1',
    ...signedHeaders({ id, timestamp, body }, secrets),
  };
  return deps.transport({ url: webhook.url, headers, body, signal });
};

/** A receiver that is gone, or has failed for three days, is sent nothing more until somebody enables it. */
const disableIfLost = async (
  deps: SendDeps,
  { webhook_id, tenant_id }: Webhook,
  { status, at }: { readonly status: number | null; readonly at: string },
): Promise<void> => {
  const since = (await deps.failingSince(webhook_id))?.failing_since ?? at;
  const gone = status === 410;
  if (!gone && at < triedUntil(since)) return;
  const meta = systemMeta(deps, webhook_id);
  const data = { reason: gone ? 'gone' : 'failing' } as const;
  await deps.streams.handle({ webhook_id, tenant_id }, { type: 'DisableWebhook', data, meta });
};

/**
 * Sends a message once, if the log says that it is due, and writes down what came of it. A process that dies
 * between the two sends it again: with the same ID, by which a receiver tells it from another.
 */
export const sendDelivery = async (
  deps: SendDeps,
  delivery: DueDelivery,
  signal: AbortSignal,
): Promise<SendOutcome> => {
  const { delivery_id, webhook_id, tenant_id } = delivery;
  const [state, { webhook }] = await Promise.all([
    deps.deliveries.stateOf(delivery_id),
    deps.streams.stateOf(webhook_id),
  ]);
  const began = deps.clock.now();
  if (webhook === null || !webhook.enabled || !isDue(state, began)) return SKIPPED;
  const { error, response_status, retryAfterMs } = await request(deps, { delivery, webhook }, signal);
  // Nobody knows whether it arrived: whoever sends next finds out.
  if (signal.aborted) return SKIPPED;
  const attempted_at = deps.clock.now();
  const duration_ms = Math.max(0, Date.parse(attempted_at) - Date.parse(began));
  deps.onAttempt(error, duration_ms / 1000);
  const pauseMs = pauseAfter(state.tries + 1, deps.random(), retryAfterMs);
  const next_attempt_at = error === null ? null : laterBy(attempted_at, pauseMs);
  const outcome = await deps.deliveries.handle({
    type: 'RecordAttempt',
    meta: systemMeta(deps, delivery_id),
    data: {
      ...{ delivery_id, webhook_id, tenant_id, attempt: state.attempts + 1, error, response_status },
      ...{ duration_ms, attempted_at, next_attempt_at },
    },
  });
  if (error !== null) await disableIfLost(deps, webhook, { status: response_status, at: attempted_at });
  if (outcome.kind !== 'done') return SKIPPED;
  return { kind: error === null ? 'delivered' : 'failed', position: outcome.position };
};
