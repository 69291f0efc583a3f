import type { Command } from '../kernel/command.ts';
import { accept, reject, type Decider, type StreamKind } from '../kernel/decider.ts';
import { uuidOfName } from '../kernel/eventId.ts';
import type { WebhookDeliveryEvent, WebhookDeliveryEventOf } from './events.ts';

/** What a receiver made of one request. */
export type RecordAttempt = Command<
  'RecordAttempt',
  WebhookDeliveryEventOf<'WebhookDeliveryAttempted'>['data']
>;

export type ResendDelivery = Command<
  'ResendDelivery',
  Pick<WebhookDeliveryEventOf<'WebhookDeliveryResent'>['data'], 'delivery_id' | 'webhook_id' | 'tenant_id'>
>;

/** Another sender has recorded an attempt since. */
interface DeliveryRejection {
  readonly code: 'attempt_recorded';
}

interface DeliveryState {
  readonly attempts: number;
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
  RecordAttempt | ResendDelivery,
  WebhookDeliveryEvent,
  DeliveryRejection
>;

/** One event for one webhook, from the first attempt on. It needs no stream before: the event's own is enough. */
export const webhookDelivery: Decider<WebhookDeliveryKind> = {
  initialState: { attempts: 0, tries: 0, delivered: false, next_attempt_at: null, resent: false },
  decide: (state, command) => {
    if (command.type === 'ResendDelivery')
      return state.resent
        ? accept()
        : accept({
            type: 'WebhookDeliveryResent',
            data: { ...command.data, resent_at: command.meta.now },
          });
    if (command.data.attempt !== state.attempts + 1) return reject({ code: 'attempt_recorded' });
    return accept({ type: 'WebhookDeliveryAttempted', data: command.data });
  },
  evolve: (state, { type, data }) => {
    if (type === 'WebhookDeliveryResent')
      return { ...state, tries: 0, delivered: false, next_attempt_at: null, resent: true };
    const { attempt: attempts, error, next_attempt_at } = data;
    return { attempts, tries: state.tries + 1, delivered: error === null, next_attempt_at, resent: false };
  },
};

/** Whether the log says that it may be sent now: read models may be behind. */
export const isDue = ({ delivered, next_attempt_at }: DeliveryState, now: string): boolean =>
  !delivered && (next_attempt_at === null || next_attempt_at <= now);

/**
 * The ID that a receiver tells repeats by. The same event, webhook and type give the same one, whoever writes it
 * and however often.
 */
export const deliveryIdOf = (eventId: string, webhookId: string, type: string): string =>
  `msg_${uuidOfName(`${eventId}\u001f${webhookId}\u001f${type}`).replaceAll('-', '')}`;
