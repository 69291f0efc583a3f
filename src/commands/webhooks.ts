import { isIP } from 'node:net';
import { createHmac, randomUUID } from 'node:crypto';
import { type ObjectStore, type SecretBox, secretObjectKey } from '../../domain/ports/services.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import {
  type CreateWebhook,
  type RecordAttempt,
  type ResendDelivery,
  retention,
  retentionEvent,
  retentionStream,
  type RetentionKind,
  secretsOfWebhook,
  type StartAttempt,
  webhook,
  type Webhook,
  type WebhookCommand,
  webhookDelivery,
  webhookDeliveryEvent,
  type WebhookDeliveryKind,
  webhookDeliveryStream,
  webhookEvent,
  type WebhookKind,
  type WebhookSettings,
  webhookStream,
} from '../../domain/webhook.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import { withSealed, withTexts } from '../writer/vault.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import { fateOfSecrets, getOrAside } from '../writer/setAside.ts';
import type { KeptDays } from '../../domain/retention.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import { ABANDONED_AFTER_MS, type PlaceRequest, takePlace } from '../writer/places.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

/** Where receivers may be. */
export interface ReceiverPolicy {
  /** Lets them be http, and in the operator's own network. */
  readonly allowPrivateNetwork: boolean;
  /** Whether an IP address may be connected with. */
  readonly mayConnectTo: (address: string) => boolean;
}

/**
 * What is wrong with the URL of a receiver, as a sentence. A name is not looked up here: what it stands for counts
 * when something is sent, and an answer would tell callers which names there are inside.
 */
export const receiverUrlFlaw = (
  text: string,
  { allowPrivateNetwork, mayConnectTo }: ReceiverPolicy,
): string | undefined => {
  if (!URL.canParse(text)) return 'This is no URL: give one like https://example.com/quire.';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(allowPrivateNetwork && url.protocol === 'http:'))
    return 'The URL must begin with https://.';
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    return 'The URL may have no user name, no password and no fragment.';
  const address = url.hostname.replace(/^\[|\]$/gu, '');
  return isIP(address) === 0 || mayConnectTo(address)
    ? undefined
    : 'The URL is not at a public address: give one that can be reached from the internet.';
};

const DAY_MS = 86_400_000;

const PREFIX = 'whsec_';

/** What a sweeper is told of a webhook: secrets that it may still need stay, all others of it go. */
export const webhookFate = (store: EventStore) => async (webhookId: string) => {
  const { webhook: there, removed } = await webhookStreams(store).stateOf(webhookId);
  return fateOfSecrets(removed ? undefined : there === null ? [] : secretsOfWebhook(there));
};

/** A secret in the form of Standard Webhooks, of random bytes: 24 to 64. */
const secretOf = (bytes: Uint8Array): string => PREFIX + Buffer.from(bytes).toString('base64');

interface Signed {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

const signatureBy = (secret: string, { id, timestamp, body }: Signed): string => {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key)
    .update(`${id}.${String(timestamp)}.${body}`)
    .digest('base64')}`;
};

/** The headers of Standard Webhooks: one signature for each secret, so that a receiver may have either. */
export const signedHeaders = (
  message: Signed,
  secrets: readonly string[],
): Readonly<Record<string, string>> => ({
  'webhook-id': message.id,
  'webhook-timestamp': String(message.timestamp),
  'webhook-signature': secrets.map((secret) => signatureBy(secret, message)).join(' '),
});

export interface WebhookSecretDeps {
  readonly objects: Pick<ObjectStore, 'put' | 'get' | 'remove'>;
  /** undefined: the service was given no key to seal with. */
  readonly box: SecretBox | undefined;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** A secret that lies sealed in object storage, and the one time that it is shown. */
interface NewSecret {
  readonly secret_id: string;
  readonly secret: string;
}

/** Bytes of a new secret: Standard Webhooks wants 24 to 64. */
const SECRET_BYTES = 32;

/** Makes a secret and puts it away; undefined: there is no key to seal it with. */
const newSecret = async (
  { objects, box, randomBytes }: WebhookSecretDeps,
  { tenant_id, webhook_id }: WebhookName,
): Promise<NewSecret | undefined> => {
  if (box === undefined) return undefined;
  // It names its webhook: a sweeper finds what nobody has any use for.
  const secret_id = `${webhook_id}/${randomUUID()}`;
  const secret = secretOf(randomBytes(SECRET_BYTES));
  await objects.put(secretObjectKey(secret_id), box.seal(secret, { tenant_id, secret_id }));
  return { secret_id, secret };
};

/** Opens a secret to sign with; undefined: it is gone, or sealed with a key that this process was not given. */
export const openSecret = async (
  { objects, box }: Pick<WebhookSecretDeps, 'objects' | 'box'>,
  owner: { readonly tenant_id: string; readonly secret_id: string },
): Promise<string | undefined> => {
  const sealed = await getOrAside(objects, secretObjectKey(owner.secret_id));
  const opened = sealed === undefined ? undefined : box?.open(sealed, owner);
  return opened?.kind === 'opened' ? opened.text : undefined;
};

/** A secret that nothing names is garbage; one that stays is swept. */
const discardSecrets = async (
  { objects }: Pick<WebhookSecretDeps, 'objects'>,
  secretIds: readonly string[],
): Promise<void> => {
  for (const id of secretIds) await objects.remove(secretObjectKey(id)).catch(() => undefined);
};

/** A webhook, and whose it is. */
interface WebhookName {
  readonly webhook_id: string;
  readonly tenant_id: string;
}

/** The streams of webhooks. */
export type WebhookStreams = ReturnType<typeof webhookStreams>;

const rules = { decider: webhook, codec: eventCodec(webhookEvent), streamOf: webhookStream };

export const webhookStreams = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<WebhookKind>(rules, store);
  return {
    /** As of its decision by `now`, else of the command: keeping texts may take long, and others go on meanwhile. */
    handle: async (
      { webhook_id, tenant_id }: WebhookName,
      command: WebhookCommand,
      now: Clock['now'] = () => command.meta.now,
    ) => {
      const owner = { tenant_id, stream: webhookStream(webhook_id) };
      const sealed = 'data' in command ? { data: await withSealed(store, owner, command.data) } : {};
      const meta = { ...command.meta, now: now() };
      return handle(webhook_id, { ...command, ...sealed, meta } as WebhookCommand, tenant_id);
    },
    /** From the log; `webhook` is null for one that never was, or is no more. */
    stateOf: async (webhookId: string) => withTexts(store, await stateOf(webhookId)),
  };
};

/** The streams of deliveries: what was sent, and what came of it. */
export type DeliveryStreams = ReturnType<typeof deliveryStreams>;

const deliveryRules = {
  decider: webhookDelivery,
  codec: eventCodec(webhookDeliveryEvent),
  streamOf: webhookDeliveryStream,
};

export const deliveryStreams = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<WebhookDeliveryKind>(deliveryRules, store);
  return {
    handle: (command: StartAttempt | RecordAttempt | ResendDelivery) =>
      handle(command.data.delivery_id, command, command.data.tenant_id),
    stateOf,
  };
};

interface PruneDeps {
  readonly store: EventStore;
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
  /** Deliveries created before and settled now, in pieces: see `prunableDeliveries`. */
  readonly prunable: (
    what: { readonly before: string; readonly now: string; readonly tenant_id: string | null },
    size: { readonly piece: number; readonly pieces: number },
  ) => Promise<readonly { readonly last_at: string; readonly deliveries: number }[]>;
}

/** Deliveries that one event prunes, and events of one sweep: no batch of a read model takes long. */
const PRUNED_AT_ONCE = { piece: 1_000, pieces: 20 };

const retentionRules = {
  decider: retention,
  codec: eventCodec(retentionEvent),
  streamOf: retentionStream,
};

/** Of everybody first, then of each tenant that has fewer days than the others. */
const prunedFor = ({ installation, tenants, of }: KeptDays) =>
  [
    { tenant_id: null, days: installation.deliveries },
    ...tenants.flatMap((tenant_id) => {
      const { deliveries: days } = of(tenant_id);
      return days === installation.deliveries ? [] : [{ tenant_id, days }];
    }),
  ].filter(({ days }) => days > 0);

/** Prunes deliveries that were kept for as long as they are. Gives how many; others may prune beside it. */
export const pruneDeliveries = ({ store, clock, prunable }: PruneDeps) => {
  const { handle } = streamsOf<RetentionKind, string | null>(retentionRules, store);
  return async (kept: KeptDays): Promise<number> => {
    let pruned = 0;
    for (const { tenant_id, days } of prunedFor(kept)) {
      const now = clock.now();
      const what = { before: laterBy(now, -days * DAY_MS), now, tenant_id };
      for (const { last_at, deliveries } of await prunable(what, PRUNED_AT_ONCE)) {
        const meta = systemMeta({ clock }, 'retention-deliveries');
        const data = { before: laterBy(last_at, 1), tenant_id };
        const outcome = await handle(tenant_id, { type: 'PruneDeliveries', data, meta }, tenant_id);
        if (outcome.kind !== 'done') break;
        pruned += outcome.events.length > 0 ? deliveries : 0;
      }
    }
    return pruned;
  };
};

/** A delivery, and whose it is. */
interface DeliveryName extends WebhookName {
  readonly delivery_id: string;
}

/** The outcome, with the secret that is shown this once. */
export type WithSecret =
  | { readonly kind: 'made'; readonly outcome: Outcome<WebhookKind>; readonly secret: string }
  | WorkProblem;

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
  /** Sends it a message, which is listed under `delivery_id`. */
  readonly test: (
    name: WebhookName,
    meta: CommandMeta,
  ) => Promise<{ readonly delivery_id: string; readonly outcome: Outcome<WebhookKind> }>;
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
  name: WebhookName,
  run: (secretId: string) => Promise<Outcome<WebhookKind> | WorkProblem>,
): Promise<WithSecret> => {
  const made = await newSecret(deps, name);
  if (made === undefined) return notConfigured();
  const outcome = await run(made.secret_id);
  // A webhook that may have been written must keep its secret.
  if (outcome.kind !== 'done' && outcome.kind !== 'unknown') await discardSecrets(deps, [made.secret_id]);
  return outcome.kind === 'problem' ? outcome : { kind: 'made', outcome, secret: made.secret };
};

/** Whether a webhook that has a place is over. One that took it and was not created in time never will be. */
const isOver =
  (
    { streams, clock }: Pick<WebhooksDeps, 'streams' | 'clock'>,
    tenant_id: string,
    meta: CommandMeta,
  ): PlaceRequest['isOver'] =>
  async (webhook_id, takenAt) => {
    const { webhook, removed } = await streams.stateOf(webhook_id);
    if (webhook !== null || removed) return removed;
    if (meta.now < laterBy(takenAt, ABANDONED_AFTER_MS)) return false;
    const name = { webhook_id, tenant_id };
    const abandon = { type: 'AbandonWebhook', data: name, meta } as const;
    const closed = await streams.handle(name, abandon, () => clock.now());
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
    tenant_id,
    thing: 'webhooks',
    name,
    max: WEBHOOKS_MAX,
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
  const command = { type: 'CreateWebhook', data, meta } as const;
  const created = await deps.streams.handle(data, command, () => deps.clock.now());
  if (created.kind !== 'rejected') return created;
  return workProblem('busy', 'Creating the webhook took too long. Send the request again.');
};

/** Webhooks: settings in the log, their secrets sealed in object storage. */
export const webhookCommands = (deps: WebhooksDeps): Webhooks => {
  const { streams, deliveries } = deps;
  const now = () => deps.clock.now();
  const find: Webhooks['find'] = async (webhookId) => (await streams.stateOf(webhookId)).webhook;
  const secretsNow = async (webhookId: string): Promise<readonly string[]> => {
    const webhook = await find(webhookId);
    return webhook === null ? [] : secretsOfWebhook(webhook);
  };
  return {
    find,
    create: (tenant_id, settings, meta) => {
      const name = { tenant_id, webhook_id: deps.clock.newId('wh') };
      return withSecret(deps, name, (secret_id) => create(deps, { ...settings, ...name, secret_id }, meta));
    },
    change: (name, data, meta) => streams.handle(name, { type: 'ChangeWebhook', data, meta }, now),
    rotate: async (name, keepOldMs, meta) => {
      const before = await secretsNow(name.webhook_id);
      const rotated = await withSecret(deps, name, (secret_id) => {
        const data = { secret_id, old_until: laterBy(meta.now, keepOldMs) };
        return streams.handle(name, { type: 'RotateWebhookSecret', data, meta }, now);
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
      const outcome = await streams.handle(name, { type: 'RemoveWebhook', meta }, now);
      if (outcome.kind === 'done') await discardSecrets(deps, secrets);
      return outcome;
    },
    test: async (name, meta) => {
      const delivery_id = deps.clock.newId('msg');
      const data = { delivery_id };
      return { delivery_id, outcome: await streams.handle(name, { type: 'TestWebhook', data, meta }, now) };
    },
    resend: (data, meta) => deliveries.handle({ type: 'ResendDelivery', data, meta }),
  };
};
