import { z } from 'zod';
import { instant, laterBy, tenantId } from './kernel/amounts.ts';
import {
  accept,
  type BareCommand,
  type Command,
  type Decider,
  type Decision,
  event,
  reject,
  type StreamKind,
} from './kernel/decider.ts';
import { uuidOfName } from './kernel/chain.ts';

const identity = { webhook_id: z.string(), tenant_id: tenantId };

/** Where to send, and what. Types are texts here: a log may hold those of a newer release. */
const settings = {
  url: z.string(),
  events: z.array(z.string()),
  description: z.string().nullable(),
  /** A balance that falls below it is reported; null: never. */
  low_balance_credits: z.int().min(0).nullable(),
  /** The same at several levels, in place of the one. Left out where there is one or none, and by older releases. */
  low_balance_at: z.array(z.int().min(0)).optional(),
};

/** The secret lies sealed in object storage under `secret_id`; never here. */
const webhookCreated = event('WebhookCreated', {
  ...identity,
  ...settings,
  secret_id: z.string(),
  created_at: instant,
});

/** All settings as they are from now on. Enabling one again forgets why it was disabled. */
const webhookChanged = event('WebhookChanged', {
  ...identity,
  ...settings,
  enabled: z.boolean(),
  changed_at: instant,
});

/** `secret_id` signs from now on, the one before it too until `old_secret_until`. */
const webhookSecretRotated = event('WebhookSecretRotated', {
  ...identity,
  secret_id: z.string(),
  old_secret_id: z.string(),
  old_secret_until: instant,
  rotated_at: instant,
});

/** The service stops sending by itself. `gone`: the receiver answered 410. */
const webhookDisabled = event('WebhookDisabled', {
  ...identity,
  reason: z.enum(['failing', 'gone']),
  disabled_at: instant,
});

/** A person wants to see a message arrive. It is told to this webhook alone, under an ID of its own. */
const webhookTested = event('WebhookTested', { ...identity, delivery_id: z.string(), tested_at: instant });

/** The last event of its stream; of one that was never created, the only one: it never will be. */
const webhookRemoved = event('WebhookRemoved', { ...identity, removed_at: instant });

export const webhookEvent = z.discriminatedUnion('type', [
  webhookCreated,
  webhookChanged,
  webhookSecretRotated,
  webhookDisabled,
  webhookTested,
  webhookRemoved,
]);

export type WebhookEvent = z.output<typeof webhookEvent>;

const deliveryIdentity = { delivery_id: z.string(), webhook_id: z.string(), tenant_id: tenantId };

/** Why an attempt failed; the receiver's status, if any, says more. */
export const attemptError = z.enum([
  'status',
  'redirect',
  'timeout',
  'connection',
  'unsafe_address',
  'secret_lost',
]);

export type AttemptError = z.output<typeof attemptError>;

/** A sender is about to make a request: nobody else does so while it may be under way. */
const deliveryStarted = event('WebhookDeliveryStarted', {
  ...deliveryIdentity,
  /** From 1; counts on when it is sent again. */
  attempt: z.int().min(1),
  started_at: instant,
});

/** The outcome of a request; missing if its sender died. */
const deliveryAttempted = event('WebhookDeliveryAttempted', {
  ...deliveryIdentity,
  attempt: z.int().min(1),
  /** null: it was delivered. */
  error: attemptError.nullable(),
  /** null: there was no answer. */
  response_status: z.int().nullable(),
  duration_ms: z.int().min(0),
  attempted_at: instant,
  /** When it is tried again; null where it was delivered. */
  next_attempt_at: instant.nullable(),
});

/** A person wants it sent again, whatever has become of it. */
const deliveryResent = event('WebhookDeliveryResent', { ...deliveryIdentity, resent_at: instant });

export const webhookDeliveryEvent = z.discriminatedUnion('type', [
  deliveryStarted,
  deliveryAttempted,
  deliveryResent,
]);

type WebhookDeliveryEvent = z.output<typeof webhookDeliveryEvent>;

const SECOND_MS = 1_000;

const HOUR_MS = 3_600 * SECOND_MS;

/** The first pause, ms; each later one is four times as long. */
const FIRST_MS = 5 * SECOND_MS;

const FACTOR = 4;

const LONGEST_MS = 24 * HOUR_MS;

/** How long a delivery is tried, and a webhook may fail before it is disabled, ms. */
export const GIVEN_UP_AFTER_MS = 72 * HOUR_MS;

/** The last instant at which a delivery that began at another is tried. */
export const triedUntil = (since: string): string => laterBy(since, GIVEN_UP_AFTER_MS);

/**
 * The pause after a failed attempt, ms: 5 s, 20 s, 80 s … 24 h, up to a fifth longer or shorter by `random`
 * (0 to 1), so that what failed together does not come back together. A receiver that names a pause gets that,
 * where it is longer, up to 24 h.
 */
export const pauseAfter = (attempts: number, random: number, askedMs = 0): number => {
  const pause = Math.min(LONGEST_MS, FIRST_MS * FACTOR ** Math.min(attempts - 1, 10));
  const jittered = pause * (0.8 + 0.4 * random);
  return Math.round(Math.min(LONGEST_MS, Math.max(jittered, askedMs, FIRST_MS)));
};

type Created = WebhookEventOf<'WebhookCreated'>['data'];

export type WebhookSettings = Pick<
  Created,
  'url' | 'events' | 'description' | 'low_balance_credits' | 'low_balance_at'
>;

/** The balances below which a webhook is told, in credits. */
export const lowBalanceLevels = ({
  low_balance_credits: one,
  low_balance_at: several,
}: Pick<WebhookSettings, 'low_balance_credits' | 'low_balance_at'>): readonly number[] =>
  several ?? (one === null ? [] : [one]);

export type CreateWebhook = Command<'CreateWebhook', Omit<Created, 'created_at'>>;

type ChangeWebhook = Command<'ChangeWebhook', WebhookSettings & { readonly enabled: boolean }>;

/** `old_until`: until when the secret before signs too. */
type RotateWebhookSecret = Command<
  'RotateWebhookSecret',
  { readonly secret_id: string; readonly old_until: string }
>;

/** `url`, `told_since`: of the webhook as it was told. `failing_since`: since when each attempt has failed. */
type DisableWebhook = Command<
  'DisableWebhook',
  Pick<WebhookEventOf<'WebhookDisabled'>['data'], 'reason'> &
    Pick<Webhook, 'url' | 'told_since'> & { readonly failing_since: string }
>;

type TestWebhook = Command<'TestWebhook', Pick<WebhookEventOf<'WebhookTested'>['data'], 'delivery_id'>>;

type RemoveWebhook = BareCommand<'RemoveWebhook'>;

/** Closes the stream of one that was never created, so that it never is. One that was stays as it is. */
type AbandonWebhook = Command<'AbandonWebhook', Pick<Created, 'webhook_id' | 'tenant_id'>>;

export type WebhookCommand =
  | CreateWebhook
  | ChangeWebhook
  | RotateWebhookSecret
  | DisableWebhook
  | TestWebhook
  | RemoveWebhook
  | AbandonWebhook;

interface WebhookRejection {
  readonly code: 'webhook_not_found' | 'webhook_disabled';
}

interface OldSecret {
  readonly secret_id: string;
  readonly until: string;
}

/** A webhook as its stream has it. */
export interface Webhook extends WebhookSettings {
  readonly webhook_id: string;
  readonly tenant_id: string;
  readonly enabled: boolean;
  readonly disabled_reason: 'failing' | 'gone' | null;
  readonly secret_id: string;
  readonly old_secret: OldSecret | null;
  /** Since when messages go to this URL: it was created, moved or enabled again. */
  readonly told_since: string;
  readonly created_at: string;
  readonly updated_at: string;
}

interface WebhookState {
  /** null before it was created, and after it was removed. */
  readonly webhook: Webhook | null;
  readonly removed: boolean;
}

export type WebhookKind = StreamKind<WebhookState, WebhookCommand, WebhookEvent, WebhookRejection>;

type WebhookDecision = Decision<WebhookEvent, WebhookRejection>;

const settingsOf = ({
  url,
  events,
  description,
  low_balance_credits,
  low_balance_at,
}: WebhookSettings): WebhookSettings => ({
  url,
  events,
  description,
  low_balance_credits,
  ...(low_balance_at !== undefined && { low_balance_at }),
});

const isSame = (a: WebhookSettings & { readonly enabled: boolean }, b: typeof a): boolean =>
  a.enabled === b.enabled && JSON.stringify(settingsOf(a)) === JSON.stringify(settingsOf(b));

/** What was answered at another URL, or before it was enabled again, says nothing about it as it is. */
const isLost = (webhook: Webhook, { data, meta }: DisableWebhook): boolean => {
  if (!webhook.enabled || webhook.url !== data.url || webhook.told_since !== data.told_since) return false;
  const since = data.failing_since > webhook.told_since ? data.failing_since : webhook.told_since;
  return data.reason === 'gone' || meta.now >= triedUntil(since);
};

const onExisting = (
  webhook: Webhook,
  command: Exclude<WebhookCommand, CreateWebhook | AbandonWebhook>,
): WebhookDecision => {
  const { webhook_id, tenant_id } = webhook;
  const identity = { webhook_id, tenant_id };
  const { now } = command.meta;
  switch (command.type) {
    case 'ChangeWebhook': {
      const { enabled } = command.data;
      if (isSame(webhook, command.data)) return accept();
      const data = { ...identity, ...settingsOf(command.data), enabled, changed_at: now };
      return accept({ type: 'WebhookChanged', data });
    }
    case 'RotateWebhookSecret': {
      const { secret_id, old_until: old_secret_until } = command.data;
      if (webhook.secret_id === secret_id) return accept();
      const data = { secret_id, old_secret_id: webhook.secret_id, old_secret_until, rotated_at: now };
      return accept({ type: 'WebhookSecretRotated', data: { ...identity, ...data } });
    }
    case 'DisableWebhook': {
      if (!isLost(webhook, command)) return accept();
      const { reason } = command.data;
      return accept({ type: 'WebhookDisabled', data: { ...identity, reason, disabled_at: now } });
    }
    case 'TestWebhook': {
      if (!webhook.enabled) return reject({ code: 'webhook_disabled' });
      const { delivery_id } = command.data;
      return accept({ type: 'WebhookTested', data: { ...identity, delivery_id, tested_at: now } });
    }
    case 'RemoveWebhook':
      return accept({ type: 'WebhookRemoved', data: { ...identity, removed_at: now } });
  }
};

const withSettings = (webhook: Webhook, data: Changed): Webhook => {
  const { enabled, changed_at: updated_at } = data;
  const isNew = data.url !== webhook.url || (enabled && !webhook.enabled);
  const told_since = isNew ? updated_at : webhook.told_since;
  return { ...webhook, ...settingsOf(data), enabled, disabled_reason: null, told_since, updated_at };
};

type Changed = Extract<WebhookEvent, { readonly type: 'WebhookChanged' }>['data'];

/** A webhook after an event of its stream; null once it is removed, or before it is created. */
export const webhookAfter = (webhook: Webhook | null, { type, data }: WebhookEvent): Webhook | null => {
  if (type === 'WebhookCreated') {
    const { webhook_id, tenant_id, secret_id, created_at } = data;
    return {
      ...settingsOf(data),
      webhook_id,
      tenant_id,
      secret_id,
      created_at,
      updated_at: created_at,
      told_since: created_at,
      enabled: true,
      disabled_reason: null,
      old_secret: null,
    };
  }
  if (webhook === null || type === 'WebhookRemoved') return null;
  switch (type) {
    case 'WebhookChanged':
      return withSettings(webhook, data);
    case 'WebhookSecretRotated': {
      const old_secret = { secret_id: data.old_secret_id, until: data.old_secret_until };
      return { ...webhook, secret_id: data.secret_id, old_secret, updated_at: data.rotated_at };
    }
    case 'WebhookDisabled':
      return { ...webhook, enabled: false, disabled_reason: data.reason, updated_at: data.disabled_at };
    case 'WebhookTested':
      return webhook;
  }
};

/** Where a tenant wants messages to be sent. A removed webhook stays removed. */
export const webhook: Decider<WebhookKind> = {
  initialState: { webhook: null, removed: false },
  decide: (state, command) => {
    if (command.type === 'CreateWebhook') {
      if (state.removed) return reject({ code: 'webhook_not_found' });
      if (state.webhook !== null) return accept();
      return accept({ type: 'WebhookCreated', data: { ...command.data, created_at: command.meta.now } });
    }
    if (command.type === 'AbandonWebhook') {
      if (state.webhook !== null || state.removed) return accept();
      return accept({ type: 'WebhookRemoved', data: { ...command.data, removed_at: command.meta.now } });
    }
    if (state.webhook !== null) return onExisting(state.webhook, command);
    const isRepeat = state.removed && command.type === 'RemoveWebhook';
    return isRepeat ? accept() : reject({ code: 'webhook_not_found' });
  },
  evolve: (state, event) => ({
    webhook: webhookAfter(state.webhook, event),
    removed: state.removed || event.type === 'WebhookRemoved',
  }),
};

/** The secrets that sign at an instant, the newest first. */
export const signingSecrets = ({ secret_id, old_secret }: Webhook, now: string): readonly string[] =>
  old_secret !== null && now < old_secret.until ? [secret_id, old_secret.secret_id] : [secret_id];

/** The secrets that a webhook may still need. */
export const secretsOfWebhook = ({ secret_id, old_secret }: Webhook): readonly string[] =>
  old_secret === null ? [secret_id] : [secret_id, old_secret.secret_id];

type WebhookEventOf<Type extends WebhookEvent['type']> = Extract<WebhookEvent, { type: Type }>;

export const webhookStream = (webhookId: string): string => `webhook-${webhookId}`;

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
  /** Those without a recorded outcome. */
  readonly open: ReadonlySet<number>;
  /** Of these, the ones since it was first due or last wanted again: pauses grow by them. */
  readonly tries: number;
  /** The receiver took it, and nobody has asked for it again since. */
  readonly delivered: boolean;
  /** When it may be sent; null: at once, because it was not tried yet or was asked for again. */
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
  attempts: 0,
  tries: 0,
  open: new Set<number>(),
  delivered: false,
  next_attempt_at: null,
  resent: false,
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

/** Whether a sender may still be at work: the last attempt has no outcome yet. */
export const isUnderWay = ({ attempts, open }: DeliveryState): boolean => open.has(attempts);

/**
 * The ID by which a receiver recognises repeats. The same event, webhook and type give the same one, however often
 * and by any process it is written.
 */
export const deliveryIdOf = (eventId: string, webhookId: string, type: string): string =>
  `msg_${uuidOfName(`${eventId}\u001f${webhookId}\u001f${type}`).replaceAll('-', '')}`;

/**
 * Deliveries from before an instant are no longer listed, except those that still had to be sent at that moment. In
 * the log, so that rebuilt read models leave out the same ones. `tenant_id`: only this tenant's, which are kept for
 * fewer days; left out: everybody's.
 */
const deliveriesPruned = event('DeliveriesPruned', {
  before: instant,
  pruned_at: instant,
  tenant_id: tenantId.optional(),
});

export const retentionEvent = z.discriminatedUnion('type', [deliveriesPruned]);
type RetentionEvent = z.output<typeof retentionEvent>;

interface RetentionState {
  /** null: nothing was ever pruned. */
  readonly last: RetentionEvent['data'] | null;
}

export type RetentionKind = StreamKind<
  RetentionState,
  Command<'PruneDeliveries', { readonly before: string; readonly tenant_id: string | null }>,
  RetentionEvent,
  never
>;

/** What was sent since, of those that an earlier event has left, may be said after this, ms. */
const PRUNED_AGAIN_MS = HOUR_MS / 2;

/** Several processes may find the same to prune: it is said once. */
export const retention: Decider<RetentionKind> = {
  initialState: { last: null },
  saysAll: true,
  decide: ({ last }, { data: { before, tenant_id }, meta: { now } }) => {
    if (last !== null && before <= last.before && now < laterBy(last.pruned_at, PRUNED_AGAIN_MS))
      return accept();
    const whose = tenant_id === null ? {} : { tenant_id };
    return accept({ type: 'DeliveriesPruned', data: { before, pruned_at: now, ...whose } });
  },
  evolve: (_state, { data }) => ({ last: data }),
};

/** The stream of what was pruned of everybody, or of one tenant alone. */
export const retentionStream = (tenantId: string | null): string =>
  tenantId === null ? 'retention-deliveries' : `retention-deliveries-${tenantId}`;

type WebhookDeliveryEventOf<Type extends WebhookDeliveryEvent['type']> = Extract<
  WebhookDeliveryEvent,
  { type: Type }
>;

export const webhookDeliveryStream = (deliveryId: string): string => `webhookDelivery-${deliveryId}`;
