import { webhookTransport } from '../../../adapters/webhooks.ts';
import {
  dueDeliveries,
  failingSince,
  webhookIdsOfTenant,
  webhooksDue,
  webhooksProjector,
  webhooksRemoved,
} from '../../../projections/webhooks.ts';
import { reportDrift } from '../../commands/audits.ts';
import { mayConnectTo } from '@quire/engine/models/guard/addresses';
import { checkedHost, systemResolve } from '@quire/engine/models/guard/checkBase';
import {
  deliveryStreams,
  type ReceiverPolicy,
  webhookCommands,
  type Webhooks,
  webhookStreams,
} from '../../commands/webhooks.ts';
import { webhookAttempts } from '../../telemetry/businessMetrics.ts';
import { webhookSender, type WebhookSender } from '../../worker/webhooks.ts';
import { unlessDiverged } from '../start/logWatchParts.ts';
import type { Context, SomeFactories } from '../context.ts';

/** The advisory lock that one process holds at a time: the one that sends. */
const SENDER_LEASE = 0x7768_7365n;

/** How long a sender waits for the read model to have what it wrote, ms. */
const CAUGHT_UP_MS = 5_000;

/** Where receivers may be: the guard of model bases, with a switch of its own. */
export const receiverPolicy = (from: Context): ReceiverPolicy => {
  const { webhooksAllowPrivateNetwork: allowPrivateNetwork } = from.config;
  return {
    allowPrivateNetwork,
    mayConnectTo: (address) => mayConnectTo(address, allowPrivateNetwork),
  };
};

/** What the routes of webhooks call. */
export const webhooksOf = (from: Context, randomBytes: (count: number) => Uint8Array): Webhooks => {
  const { log, objects } = from.parts;
  const box = from.secretBox;
  const streams = { streams: webhookStreams(log), deliveries: deliveryStreams(log) };
  const idsOfTenant = webhookIdsOfTenant(from.readSql);
  const deps = { store: log, clock: from.clock, objects, box, randomBytes, idsOfTenant };
  return webhookCommands({ ...streams, ...deps });
};

const senderOf = (from: Context): WebhookSender => {
  const { log, objects, sql } = from.parts;
  const { allowPrivateNetwork } = receiverPolicy(from);
  const [reads, logger, runner] = [from.readSql, from.logger, from.runner];
  const policy = { allowPrivateNetwork, resolve: systemResolve };
  return webhookSender({
    ...{ objects, clock: from.clock, box: from.secretBox },
    ...{ streams: webhookStreams(log), deliveries: deliveryStreams(log) },
    transport: webhookTransport({ addressesOf: (url) => checkedHost(url, policy) }),
    lists: { webhooks: webhooksDue(reads), removed: webhooksRemoved(reads), due: dueDeliveries(reads) },
    monotonicMs: () => performance.now(),
    // An embedded log has one process, and that one knows what it sends.
    leftAfterMs: from.config.eventStoreUrl === undefined ? 0 : undefined,
    failingSince: failingSince(reads),
    random: () => Math.random(),
    onAttempt: webhookAttempts(from.registry),
    lease: () => sql.tryLock(SENDER_LEASE),
    caughtUp: (position) =>
      runner.waitFor(position, { timeoutMs: CAUGHT_UP_MS, projectors: [webhooksProjector.name] }),
    onError: unlessDiverged((err) => logger.error({ msg: 'webhooks', err })),
  });
};

/** What tells the world outside. */
export const webhooksParts = {
  webhookSender: senderOf,
  reportDrift: (from) => reportDrift({ store: from.parts.log, clock: from.clock }),
} satisfies SomeFactories;
