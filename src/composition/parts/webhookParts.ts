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
import { mayConnectTo, checkedHost, systemResolve } from '@quire/engine/models/guard';
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
import { bind, resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';

/** The advisory lock that one process holds at a time: the one that sends. */
const SENDER_LEASE = 0x7768_7365n;

/** How long a sender waits for the read model to have what it wrote, ms. */
const CAUGHT_UP_MS = 5_000;

/** Where receivers may be: the guard of model bases, with a switch of its own. */
export const receiverPolicy = (from: Container): ReceiverPolicy => {
  const { webhooksAllowPrivateNetwork: allowPrivateNetwork } = resolve(from, t.CONFIG);
  return {
    allowPrivateNetwork,
    mayConnectTo: (address) => mayConnectTo(address, allowPrivateNetwork),
  };
};

/** What the routes of webhooks call. */
export const webhooksOf = (from: Container, randomBytes: (count: number) => Uint8Array): Webhooks => {
  const { log, objects } = resolve(from, t.PARTS);
  const box = resolve(from, t.SECRET_BOX);
  const streams = { streams: webhookStreams(log), deliveries: deliveryStreams(log) };
  const idsOfTenant = webhookIdsOfTenant(resolve(from, t.READ_SQL));
  const deps = { store: log, clock: resolve(from, t.CLOCK), objects, box, randomBytes, idsOfTenant };
  return webhookCommands({ ...streams, ...deps });
};

const senderOf = (from: Container): WebhookSender => {
  const { log, objects, sql } = resolve(from, t.PARTS);
  const { allowPrivateNetwork } = receiverPolicy(from);
  const [reads, logger, runner] = [
    resolve(from, t.READ_SQL),
    resolve(from, t.LOGGER),
    resolve(from, t.RUNNER),
  ];
  const policy = { allowPrivateNetwork, resolve: systemResolve };
  return webhookSender({
    ...{ objects, clock: resolve(from, t.CLOCK), box: resolve(from, t.SECRET_BOX) },
    ...{ streams: webhookStreams(log), deliveries: deliveryStreams(log) },
    transport: webhookTransport({ addressesOf: (url) => checkedHost(url, policy) }),
    lists: { webhooks: webhooksDue(reads), removed: webhooksRemoved(reads), due: dueDeliveries(reads) },
    monotonicMs: () => performance.now(),
    // An embedded log has one process, and that one knows what it sends.
    leftAfterMs: resolve(from, t.CONFIG).eventStoreUrl === undefined ? 0 : undefined,
    failingSince: failingSince(reads),
    random: () => Math.random(),
    onAttempt: webhookAttempts(resolve(from, t.REGISTRY)),
    lease: () => sql.tryLock(SENDER_LEASE),
    caughtUp: (position) =>
      runner.waitFor(position, { timeoutMs: CAUGHT_UP_MS, projectors: [webhooksProjector.name] }),
    onError: unlessDiverged((err) => logger.error({ msg: 'webhooks', err })),
  });
};

/** What tells the world outside. */
export const bindWebhooks = (container: Container): void => {
  bind(container, t.WEBHOOK_SENDER, senderOf);
  bind(container, t.REPORT_DRIFT, (from) =>
    reportDrift({ store: resolve(from, t.PARTS).log, clock: resolve(from, t.CLOCK) }),
  );
};
