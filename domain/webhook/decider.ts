import type { BareCommand, Command } from '../kernel/command.ts';
import { accept, reject, type Decider, type Decision, type StreamKind } from '../kernel/decider.ts';
import { triedUntil } from '../webhookDelivery/schedule.ts';
import type { WebhookEvent, WebhookEventOf } from './events.ts';

type Created = WebhookEventOf<'WebhookCreated'>['data'];

export type WebhookSettings = Pick<Created, 'url' | 'events' | 'description' | 'low_balance_credits'>;

export type CreateWebhook = Command<'CreateWebhook', Omit<Created, 'created_at'>>;

export type ChangeWebhook = Command<'ChangeWebhook', WebhookSettings & { readonly enabled: boolean }>;

/** `old_until`: until when the secret before signs too. */
export type RotateWebhookSecret = Command<
  'RotateWebhookSecret',
  { readonly secret_id: string; readonly old_until: string }
>;

/** `url`, `told_since`: of the webhook as it was told. `failing_since`: since when each attempt has failed. */
export type DisableWebhook = Command<
  'DisableWebhook',
  Pick<WebhookEventOf<'WebhookDisabled'>['data'], 'reason'> &
    Pick<Webhook, 'url' | 'told_since'> & { readonly failing_since: string }
>;

export type RemoveWebhook = BareCommand<'RemoveWebhook'>;

/** Closes the stream of one that was never created, so that it never is. One that was stays as it is. */
export type AbandonWebhook = Command<'AbandonWebhook', Pick<Created, 'webhook_id' | 'tenant_id'>>;

export type WebhookCommand =
  CreateWebhook | ChangeWebhook | RotateWebhookSecret | DisableWebhook | RemoveWebhook | AbandonWebhook;

interface WebhookRejection {
  readonly code: 'webhook_not_found';
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
  /** Since when it is told at this URL: it was created, moved or enabled again. */
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

const settingsOf = ({ url, events, description, low_balance_credits }: WebhookSettings) => ({
  ...{ url, events, description, low_balance_credits },
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
    case 'RemoveWebhook':
      return accept({ type: 'WebhookRemoved', data: { ...identity, removed_at: now } });
  }
};

/** A webhook after an event of its stream; null once it is removed, or before it is created. */
export const webhookAfter = (webhook: Webhook | null, { type, data }: WebhookEvent): Webhook | null => {
  if (type === 'WebhookCreated') {
    const { webhook_id, tenant_id, secret_id, created_at } = data;
    return {
      ...settingsOf(data),
      ...{ webhook_id, tenant_id, secret_id, created_at, updated_at: created_at, told_since: created_at },
      ...{ enabled: true, disabled_reason: null, old_secret: null },
    };
  }
  if (webhook === null || type === 'WebhookRemoved') return null;
  switch (type) {
    case 'WebhookChanged': {
      const { enabled, changed_at: updated_at } = data;
      const isNew = data.url !== webhook.url || (enabled && !webhook.enabled);
      const told_since = isNew ? updated_at : webhook.told_since;
      return { ...webhook, ...settingsOf(data), enabled, disabled_reason: null, told_since, updated_at };
    }
    case 'WebhookSecretRotated': {
      const old_secret = { secret_id: data.old_secret_id, until: data.old_secret_until };
      return { ...webhook, secret_id: data.secret_id, old_secret, updated_at: data.rotated_at };
    }
    case 'WebhookDisabled':
      return { ...webhook, enabled: false, disabled_reason: data.reason, updated_at: data.disabled_at };
  }
};

/** Where a tenant wants to be told what happens. A removed webhook stays removed. */
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
