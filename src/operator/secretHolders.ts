import { decodeAny } from '../../domain/catalogue.ts';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import { liveSecrets } from '../../domain/savedConfig.ts';
import { secretsOfWebhook } from '../../domain/webhook.ts';
import { configStreams } from '../commands/reference/savedConfigs.ts';
import { webhookStreams } from '../commands/webhooks/webhookStreams.ts';
import { exportedEvents } from './exportEvents.ts';

type Log = EventStore & EventFeed;

/** What holds sealed secrets for good: a saved config or a webhook. */
export type SecretHolder = { readonly config_id: string } | { readonly webhook_id: string };

/** The secrets that a holder needs now, and whose they are. */
interface HeldSecrets {
  readonly tenant_id: string;
  readonly secrets: readonly string[];
}

const NONE: HeldSecrets = { tenant_id: '', secrets: [] };

/** Everything that ever held secrets, in the order of its first event. */
export const secretHolders = async (log: Log, signal: AbortSignal): Promise<readonly SecretHolder[]> => {
  const holders = new Map<string, SecretHolder>();
  for (const category of ['config', 'webhook'])
    for await (const recorded of exportedEvents(log, { category }, signal)) {
      const { type, data } = decodeAny(recorded);
      if (type === 'ConfigPublished') holders.set(recorded.stream, { config_id: data.config_id });
      if (type === 'WebhookCreated') holders.set(recorded.stream, { webhook_id: data.webhook_id });
    }
  return [...holders.values()];
};

/** What a holder needs, as the log has it. */
export const heldSecrets = async (log: Log, holder: SecretHolder): Promise<HeldSecrets> => {
  if ('config_id' in holder) {
    const state = await configStreams(log).stateOf(holder.config_id);
    return { tenant_id: state.latest?.tenant_id ?? '', secrets: liveSecrets(state) };
  }
  const { webhook } = await webhookStreams(log).stateOf(holder.webhook_id);
  return webhook === null ? NONE : { tenant_id: webhook.tenant_id, secrets: secretsOfWebhook(webhook) };
};

/** The name by which people find a holder. */
export const nameOfHolder = (holder: SecretHolder): string =>
  'config_id' in holder ? holder.config_id : holder.webhook_id;
