import { laterBy } from '../../../domain/kernel/amounts.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import type { WebhookAnswer, WebhookTransport } from '../../../domain/ports/services.ts';
import {
  type AttemptError,
  isDue,
  isUnderWay,
  pauseAfter,
  signingSecrets,
  triedUntil,
  type Webhook,
} from '../../../domain/webhook.ts';
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
  /** Whether an attempt of which nobody says what became of it was left by its sender. */
  readonly isLeft: (attempt: { readonly delivery_id: string; readonly attempt: number }) => boolean;
  /** 0 to 1, for pauses. */
  readonly random: () => number;
  /** Told of each attempt. */
  readonly onAttempt: (error: AttemptError | null, seconds: number) => void;
}

/** `skipped`: the log says that it is not to be sent now, or another sender was faster. */
export type SendOutcome =
  | { readonly kind: 'skipped' }
  | { readonly kind: 'delivered' | 'failed'; readonly position: bigint | undefined };

/** Longer than a request and what is written before and after it may take, ms. */
const LEFT_AFTER_MS = 30_000;
/** Attempts that are watched at a time. Those that are forgotten are watched anew. */
const WATCHED_MAX = 10_000;

/**
 * Tells attempts that their sender left: those that this process has watched for so long by its own clock, and
 * nobody has said what became of them. The clocks of other machines are not asked.
 */
export const attemptWatch = (monotonicMs: () => number, leftAfterMs = LEFT_AFTER_MS): SendDeps['isLeft'] => {
  const seen = new Map<string, { readonly attempt: number; readonly since: number }>();
  return ({ delivery_id, attempt }) => {
    const [before, now] = [seen.get(delivery_id), monotonicMs()];
    const since = before?.attempt === attempt ? before.since : now;
    const isLeft = now - since >= leftAfterMs;
    if (seen.size >= WATCHED_MAX) seen.clear();
    if (isLeft) seen.delete(delivery_id);
    else seen.set(delivery_id, { attempt, since });
    return isLeft;
  };
};

const SKIPPED = { kind: 'skipped' } as const;

interface Answer extends Omit<WebhookAnswer, 'error'> {
  readonly error: AttemptError | null;
}

const SECRET_LOST: Answer = { error: 'secret_lost', response_status: null, retryAfterMs: 0 };

/** A message on its way to its receiver. */
interface Sending {
  readonly delivery: DueDelivery;
  readonly webhook: Webhook;
  /** It is signed with each; none: they are lost. */
  readonly secrets: readonly string[];
}

const secretsOf = async (deps: SendDeps, webhook: Webhook): Promise<readonly string[]> => {
  const { tenant_id } = webhook;
  const ids = signingSecrets(webhook, deps.clock.now());
  const opened = await Promise.all(ids.map((secret_id) => openSecret(deps, { tenant_id, secret_id })));
  return opened.filter((secret) => secret !== undefined);
};

const request = async (
  deps: SendDeps,
  { delivery, webhook, secrets }: Sending,
  signal: AbortSignal,
): Promise<Answer> => {
  if (secrets.length === 0) return SECRET_LOST;
  const now = deps.clock.now();
  const { delivery_id: id, body } = delivery;
  const timestamp = Math.floor(Date.parse(now) / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Quire-Webhooks/1',
    ...signedHeaders({ id, timestamp, body }, secrets),
  };
  return deps.transport({ url: webhook.url, headers, body, signal });
};

/** A receiver that is gone, or failed for three days, is sent nothing until somebody enables it. Gives the position. */
const disableIfLost = async (
  deps: SendDeps,
  { webhook_id, tenant_id, url, told_since }: Webhook,
  { status, at }: { readonly status: number | null; readonly at: string },
): Promise<bigint | undefined> => {
  const failing_since = (await deps.failingSince(webhook_id))?.failing_since ?? at;
  const reason = status === 410 ? 'gone' : 'failing';
  if (reason === 'failing' && at < triedUntil(failing_since)) return undefined;
  const meta = systemMeta(deps, webhook_id);
  const data = { reason, url, told_since, failing_since } as const;
  const outcome = await deps.streams.handle(
    { webhook_id, tenant_id },
    { type: 'DisableWebhook', data, meta },
  );
  return outcome.kind === 'done' ? outcome.position : undefined;
};

/** Makes the request of an attempt that was started, and writes down what came of it. */
const attempted = async (
  deps: SendDeps,
  sending: Sending,
  {
    attempt,
    tries,
    signal,
  }: { readonly attempt: number; readonly tries: number; readonly signal: AbortSignal },
): Promise<SendOutcome> => {
  const { delivery_id, webhook_id, tenant_id } = sending.delivery;
  const began = deps.clock.now();
  const { error, response_status, retryAfterMs } = await request(deps, sending, signal);
  // Nobody knows whether it arrived: whoever sends next finds out.
  if (signal.aborted) return SKIPPED;
  const attempted_at = deps.clock.now();
  const duration_ms = Math.max(0, Date.parse(attempted_at) - Date.parse(began));
  deps.onAttempt(error, duration_ms / 1000);
  const pauseMs = pauseAfter(tries + 1, deps.random(), retryAfterMs);
  const next_attempt_at = error === null ? null : laterBy(attempted_at, pauseMs);
  const outcome = await deps.deliveries.handle({
    type: 'RecordAttempt',
    meta: systemMeta(deps, delivery_id),
    data: {
      ...{ delivery_id, webhook_id, tenant_id, attempt, error, response_status },
      ...{ duration_ms, attempted_at, next_attempt_at },
    },
  });
  const answered = { status: response_status, at: attempted_at };
  const disabled = error === null ? undefined : await disableIfLost(deps, sending.webhook, answered);
  if (outcome.kind !== 'done') return SKIPPED;
  return { kind: error === null ? 'delivered' : 'failed', position: disabled ?? outcome.position };
};

/**
 * Sends a message once, if the log says that it is due and nobody else is at it. The attempt is written down before
 * the request is made, and afterwards what came of it. A process that dies between the two leaves an attempt that
 * is taken over after a while: the message is sent again with the same ID, by which a receiver tells it from another.
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
  const { attempts, tries } = state;
  if (webhook === null || !webhook.enabled || !isDue(state, deps.clock.now())) return SKIPPED;
  if (isUnderWay(state) && !deps.isLeft({ delivery_id, attempt: attempts })) return SKIPPED;
  const secrets = await secretsOf(deps, webhook);
  const attempt = attempts + 1;
  const data = { delivery_id, webhook_id, tenant_id, attempt };
  const meta = systemMeta(deps, delivery_id);
  const started = await deps.deliveries.handle({ type: 'StartAttempt', data, meta });
  if (started.kind !== 'done' || signal.aborted) return SKIPPED;
  return attempted(deps, { delivery, webhook, secrets }, { attempt, tries, signal });
};
