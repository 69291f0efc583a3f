import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { laterBy } from '../../../domain/kernel/amounts.ts';
import type { Clock, EventStore } from '../../../domain/ports/log.ts';
import {
  type CreateWebhook,
  secretsOfWebhook,
  type Webhook,
  type WebhookDeliveryKind,
  type WebhookKind,
  type WebhookSettings,
} from '../../../domain/webhook.ts';
import { ABANDONED_AFTER_MS, takePlace, type PlaceRequest } from '../places/takePlace.ts';
import type { Outcome } from '../writer/outcome.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';
import { discardSecrets, newSecret, type WebhookSecretDeps } from './webhookSecrets.ts';
import type { DeliveryStreams, WebhookName, WebhookStreams } from './webhookStreams.ts';

/** A delivery, and whose it is. */
export interface DeliveryName extends WebhookName {
  readonly delivery_id: string;
}

/** The outcome, with the secret that is shown this once. */
export type WithSecret =
  { readonly kind: 'made'; readonly outcome: Outcome<WebhookKind>; readonly secret: string } | WorkProblem;

/** What routes do to webhooks. */
export interface Webhooks {
  readonly create: (tenantId: string, settings: WebhookSettings, meta: CommandMeta) => Promise<WithSecret>;
  readonly change: (
    name: WebhookName,
    settings: WebhookSettings & { readonly enabled: boolean },
    meta: CommandMeta,
  ) => Promise<Outcome<WebhookKind>>;
  /** The secret before signs too, for so long. */
  readonly rotate: (name: WebhookName, keepOldMs: number, meta: CommandMeta) => Promise<WithSecret>;
  readonly remove: (name: WebhookName, meta: CommandMeta) => Promise<Outcome<WebhookKind>>;
  readonly resend: (name: DeliveryName, meta: CommandMeta) => Promise<Outcome<WebhookDeliveryKind>>;
  /** From the log; null: there is none. */
  readonly find: (webhookId: string) => Promise<Webhook | null>;
}

interface WebhooksDeps extends WebhookSecretDeps {
  readonly store: EventStore;
  readonly streams: WebhookStreams;
  readonly deliveries: DeliveryStreams;
  readonly clock: Pick<Clock, 'newId' | 'now'>;
  /** The webhooks that a tenant has, as far as the read model knows: of those from before places were counted. */
  readonly idsOfTenant: (tenantId: string) => Promise<readonly string[]>;
}

/** Webhooks of one tenant. */
export const WEBHOOKS_MAX = 20;

const notConfigured = (): WorkProblem =>
  workProblem(
    'field_encryption_not_configured',
    'The secret of a webhook cannot be stored: this service has no key to encrypt it with. ' +
      'Ask the operator to set FIELD_ENCRYPTION_KEY.',
  );

/** Runs a command that names a new secret, and drops the secret again where it was not taken. */
const withSecret = async (
  deps: WebhooksDeps,
  tenantId: string,
  run: (secretId: string) => Promise<Outcome<WebhookKind> | WorkProblem>,
): Promise<WithSecret> => {
  const made = await newSecret(deps, tenantId);
  if (made === undefined) return notConfigured();
  const outcome = await run(made.secret_id);
  // What may have been written must keep its secret.
  if (outcome.kind !== 'done' && outcome.kind !== 'unknown') await discardSecrets(deps, [made.secret_id]);
  return outcome.kind === 'problem' ? outcome : { kind: 'made', outcome, secret: made.secret };
};

/** Whether a webhook that has a place is over. One that took it and was not created in time never will be. */
const isOver =
  (
    { streams }: Pick<WebhooksDeps, 'streams'>,
    tenant_id: string,
    meta: CommandMeta,
  ): PlaceRequest['isOver'] =>
  async (webhook_id, takenAt) => {
    const { webhook, removed } = await streams.stateOf(webhook_id);
    if (webhook !== null || removed) return removed;
    if (meta.now < laterBy(takenAt, ABANDONED_AFTER_MS)) return false;
    const name = { webhook_id, tenant_id };
    const closed = await streams.handle(name, { type: 'AbandonWebhook', data: name, meta });
    return closed.kind === 'done' && closed.state.removed;
  };

/** Takes one of the tenant's places, then creates the webhook: in between it may be taken for abandoned. */
const create = async (
  deps: WebhooksDeps,
  data: CreateWebhook['data'],
  meta: CommandMeta,
): Promise<Outcome<WebhookKind> | WorkProblem> => {
  const { tenant_id, webhook_id: name } = data;
  const place = await takePlace(deps, {
    ...{ tenant_id, thing: 'webhooks', name, max: WEBHOOKS_MAX },
    meta: () => ({ ...meta, now: deps.clock.now() }),
    isOver: isOver(deps, tenant_id, meta),
    earlier: () => deps.idsOfTenant(tenant_id),
  });
  if (place.kind === 'rejected')
    return workProblem(
      'too_many_webhooks',
      `A tenant has ${String(WEBHOOKS_MAX)} webhooks at most. Remove one that is not needed any more.`,
    );
  if (place.kind !== 'done') return place;
  const created = await deps.streams.handle(data, { type: 'CreateWebhook', data, meta });
  if (created.kind !== 'rejected') return created;
  return workProblem('busy', 'Creating the webhook took too long. Send the request again.');
};

/** Webhooks: settings in the log, their secrets sealed in object storage. */
export const webhookCommands = (deps: WebhooksDeps): Webhooks => {
  const { streams, deliveries } = deps;
  const find: Webhooks['find'] = async (webhookId) => (await streams.stateOf(webhookId)).webhook;
  const secretsNow = async (webhookId: string): Promise<readonly string[]> => {
    const webhook = await find(webhookId);
    return webhook === null ? [] : secretsOfWebhook(webhook);
  };
  return {
    find,
    create: (tenant_id, settings, meta) =>
      withSecret(deps, tenant_id, (secret_id) =>
        create(deps, { ...settings, webhook_id: deps.clock.newId('wh'), tenant_id, secret_id }, meta),
      ),
    change: (name, data, meta) => streams.handle(name, { type: 'ChangeWebhook', data, meta }),
    rotate: async (name, keepOldMs, meta) => {
      const before = await secretsNow(name.webhook_id);
      const rotated = await withSecret(deps, name.tenant_id, (secret_id) => {
        const data = { secret_id, old_until: laterBy(meta.now, keepOldMs) };
        return streams.handle(name, { type: 'RotateWebhookSecret', data, meta });
      });
      if (rotated.kind === 'problem' || rotated.outcome.kind !== 'done') return rotated;
      const live = new Set(await secretsNow(name.webhook_id));
      await discardSecrets(
        deps,
        before.filter((id) => !live.has(id)),
      );
      return rotated;
    },
    remove: async (name, meta) => {
      const secrets = await secretsNow(name.webhook_id);
      const outcome = await streams.handle(name, { type: 'RemoveWebhook', meta });
      if (outcome.kind === 'done') await discardSecrets(deps, secrets);
      return outcome;
    },
    resend: (data, meta) => deliveries.handle({ type: 'ResendDelivery', data, meta }),
  };
};
