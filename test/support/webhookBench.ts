import { randomBytes, randomUUID } from 'node:crypto';
import { aesSecretBox } from '../../adapters/local/local.ts';
import { openObjectFolder } from '../../adapters/local/objectFolder.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { WebhookTransport } from '../../domain/ports/services.ts';
import type { SqlLock } from '../../projections/engine/ports.ts';
import { isDue } from '../../domain/webhook.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import {
  deliveryStreams,
  webhookCommands,
  webhookStreams,
  type WithSecret,
} from '../../src/commands/webhooks.ts';
import {
  type DueDelivery,
  type SendDeps,
  webhookSender,
  type WebhookSenderDeps,
} from '../../src/worker/webhooks.ts';
import { LOGS } from './logs/eventLogs.ts';

const START = '2026-01-31T08:00:00.000Z';

/** What a receiver answers that took a message. */
export const TAKEN = { error: null, response_status: 200, retryAfterMs: 0 } as const;

/** Waits until it is opened; each that waits then goes on. */
export const gate = () => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

/** Resolves as a receiver does that says nothing: when the request is given up. */
export const silent: WebhookTransport = ({ signal }) =>
  new Promise((resolve) => {
    const end = () => resolve({ error: 'timeout', response_status: null, retryAfterMs: 0 });
    signal.addEventListener('abort', end);
  });

/** Webhooks and their messages in one log, and senders that work on them. Lists are never late. */
export const webhookBench = async () => {
  const folder = tempFolder();
  const { store, dispose } = await LOGS[0]!.open();
  const objects = await openObjectFolder(folder.path);
  const box = aesSecretBox({ current: Buffer.alloc(32, 7).toString('base64'), old: [] });
  const time = { now: START, monotonicMs: 0 };
  const clock = {
    now: () => time.now,
    newId: (prefix: string) => `${prefix}_${randomUUID()}`,
    uuid: randomUUID,
  };
  const [streams, deliveries] = [webhookStreams(store), deliveryStreams(store)];
  const known = new Map<string, string>();
  const messages: DueDelivery[] = [];
  const webhooks = webhookCommands({
    store,
    streams,
    deliveries,
    clock,
    objects,
    box,
    randomBytes,
    idsOfTenant: () => Promise.resolve([]),
  });
  const meta = (): CommandMeta => ({
    now: time.now,
    actor: { key_id: 'key_1', role: 'admin' },
    correlation_id: 'r',
    command_id: randomUUID(),
  });
  const dueOf = async (webhookId: string, now: string, limit: number): Promise<readonly DueDelivery[]> => {
    const due: DueDelivery[] = [];
    for (const one of messages.filter(({ webhook_id }) => webhook_id === webhookId)) {
      if (due.length === limit) break;
      if (isDue(await deliveries.stateOf(one.delivery_id), now)) due.push(one);
    }
    return due;
  };
  const lists: WebhookSenderDeps['lists'] = {
    webhooks: async (now, busy) => {
      const found = [];
      for (const [webhook_id, tenant_id] of known)
        if (!busy.includes(webhook_id) && (await dueOf(webhook_id, now, 1)).length > 0)
          if ((await streams.stateOf(webhook_id)).webhook?.enabled === true)
            found.push({ webhook_id, tenant_id });
      return found;
    },
    removed: async (ids) => {
      const states = await Promise.all(ids.map((id) => streams.stateOf(id)));
      return ids.filter((_, at) => states[at]?.removed);
    },
    due: dueOf,
  };
  const sendDeps = (transport: WebhookTransport): Omit<SendDeps, 'isLeft'> => ({
    clock,
    objects,
    box,
    streams,
    deliveries,
    transport,
    failingSince: () => Promise.resolve(undefined),
    random: () => 0.5,
    onAttempt: () => undefined,
  });
  const settings = (url: string) => ({ url, events: ['*'], description: null, low_balance_credits: null });
  const create = (tenant_id: string, url = 'https://hooks.example.com'): Promise<WithSecret> =>
    webhooks.create(tenant_id, settings(url), meta());
  return {
    store,
    streams,
    deliveries,
    time,
    webhooks,
    meta,
    settings,
    sendDeps,
    create,
    /** A webhook of a tenant with so many messages. */
    told: async (tenant_id: string, { url = 'https://hooks.example.com', count = 1 } = {}) => {
      const made = await create(tenant_id, url);
      if (made.kind === 'problem' || made.outcome.kind !== 'done') throw new Error(JSON.stringify(made));
      const { webhook_id } = made.outcome.state.webhook!;
      known.set(webhook_id, tenant_id);
      const of = { webhook_id, tenant_id };
      const own = Array.from({ length: count }, () => ({
        ...of,
        delivery_id: `msg_${randomUUID()}`,
        body: '{}',
      }));
      messages.push(...own);
      return { ...of, messages: own };
    },
    sender: (transport: WebhookTransport, options: Partial<WebhookSenderDeps> = {}) => {
      const lock: SqlLock = { lost: new Promise(() => undefined), release: () => Promise.resolve() };
      return webhookSender({
        ...sendDeps(transport),
        lists,
        lease: () => Promise.resolve(lock),
        caughtUp: () => Promise.resolve(true),
        monotonicMs: () => time.monotonicMs,
        onError: (error) => {
          throw error;
        },
        pollMs: 5,
        slowAfterMs: 5,
        ...options,
      });
    },
    dispose: async () => {
      await dispose();
      folder.remove();
    },
  };
};
export type WebhookBench = Awaited<ReturnType<typeof webhookBench>>;
