import type { AttemptError } from '../webhookDelivery/events.ts';

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly signal: AbortSignal;
}

/** What a receiver made of one request. */
export interface WebhookAnswer {
  /** null: it took the message. */
  readonly error: Exclude<AttemptError, 'secret_lost'> | null;
  /** null: there was no answer. */
  readonly response_status: number | null;
  /** The pause that it asks for, ms; 0: none. */
  readonly retryAfterMs: number;
}

/**
 * Sends a message to its receiver: once, to no private address, following nothing. Never rejects, and settles by
 * itself: within a limit of its own, and at once when the signal aborts.
 */
export type WebhookTransport = (request: WebhookRequest) => Promise<WebhookAnswer>;
