import type { Command } from '../kernel/command.ts';
import { accept, reject, type Decider, type StreamKind } from '../kernel/decider.ts';
import { uuidOfName } from '../kernel/eventId.ts';
import type { WebhookDeliveryEvent, WebhookDeliveryEventOf } from './events.ts';

/** `attempt`: the next one, as far as the sender knows. */
export type StartAttempt = Command<
  'StartAttempt',
  Omit<WebhookDeliveryEventOf<'WebhookDeliveryStarted'>['data'], 'started_at'>
>;

/** What a receiver made of one request. */
export type RecordAttempt = Command<
  'RecordAttempt',
  WebhookDeliveryEventOf<'WebhookDeliveryAttempted'>['data']
>;

export type ResendDelivery = Command<
  'ResendDelivery',
  Pick<WebhookDeliveryEventOf<'WebhookDeliveryResent'>['data'], 'delivery_id' | 'webhook_id' | 'tenant_id'>
>;

/** Another sender has started an attempt since, or this one was never started, or was recorded. */
interface DeliveryRejection {
  readonly code: 'attempt_taken';
}

interface DeliveryState {
  /** Started so far, whatever became of them. */
  readonly attempts: number;
  /** Those of which nobody has recorded what became of them. */
  readonly open: ReadonlySet<number>;
  /** Of these, the ones since it was first due or last wanted again: pauses grow by them. */
  readonly tries: number;
  /** The receiver took it, and nobody has asked for it again since. */
  readonly delivered: boolean;
  /** When it may be sent; null: at once, for it was not tried yet or is wanted again. */
  readonly next_attempt_at: string | null;
  readonly resent: boolean;
}

export type WebhookDeliveryKind = StreamKind<
  DeliveryState,
  StartAttempt | RecordAttempt | ResendDelivery,
  WebhookDeliveryEvent,
  DeliveryRejection
>;

const NOT_SENT: DeliveryState = {
  ...{ attempts: 0, tries: 0, open: new Set<number>() },
  ...{ delivered: false, next_attempt_at: null, resent: false },
};

const attempted = (
  state: DeliveryState,
  { attempt, error, next_attempt_at }: RecordAttempt['data'],
): DeliveryState => {
  const open = new Set(state.open);
  open.delete(attempt);
  // The failure of one after which another was started, or after which it was delivered, settles nothing.
  if (error !== null && (state.delivered || attempt < state.attempts)) return { ...state, open };
  const attempts = Math.max(state.attempts, attempt);
  const tries = state.tries + 1;
  return { attempts, tries, open, delivered: error === null, next_attempt_at, resent: false };
};

/** One event for one webhook, from the first attempt on. It needs no stream before: the event's own is enough. */
export const webhookDelivery: Decider<WebhookDeliveryKind> = {
  initialState: NOT_SENT,
  decide: (state, { type, data, meta }) => {
    switch (type) {
      case 'ResendDelivery':
        if (state.resent) return accept();
        return accept({ type: 'WebhookDeliveryResent', data: { ...data, resent_at: meta.now } });
      case 'StartAttempt':
        if (state.delivered || data.attempt !== state.attempts + 1) return reject({ code: 'attempt_taken' });
        return accept({ type: 'WebhookDeliveryStarted', data: { ...data, started_at: meta.now } });
      case 'RecordAttempt':
        if (!state.open.has(data.attempt)) return reject({ code: 'attempt_taken' });
        return accept({ type: 'WebhookDeliveryAttempted', data });
    }
  },
  evolve: (state, { type, data }) => {
    switch (type) {
      case 'WebhookDeliveryResent':
        return { ...state, tries: 0, delivered: false, next_attempt_at: null, resent: true };
      case 'WebhookDeliveryStarted':
        return { ...state, attempts: data.attempt, open: new Set(state.open).add(data.attempt) };
      case 'WebhookDeliveryAttempted':
        return attempted(state, data);
    }
  },
};

/** Whether the log says that it may be sent now: read models may be behind. */
export const isDue = ({ delivered, next_attempt_at }: DeliveryState, now: string): boolean =>
  !delivered && (next_attempt_at === null || next_attempt_at <= now);

/** Whether a sender may still be at it: of the last attempt nobody knows what became of it. */
export const isUnderWay = ({ attempts, open }: DeliveryState): boolean => open.has(attempts);

/**
 * The ID that a receiver tells repeats by. The same event, webhook and type give the same one, whoever writes it
 * and however often.
 */
export const deliveryIdOf = (eventId: string, webhookId: string, type: string): string =>
  `msg_${uuidOfName(`${eventId}\u001f${webhookId}\u001f${type}`).replaceAll('-', '')}`;
