import type { Registry } from 'prom-client';
import { providerNamed, type ModelUsage } from '@quire/engine/ports/modelProvider';
import type { HeavySlots, SlotRefusal } from '../../commands/slots.ts';
import type { BucketClass } from '../../../domain/ports/services.ts';
import { metersOn, pulledGauges } from '../../telemetry/processMetrics.ts';

/** How a call of a provider ended. */
type CallOutcome = 'answered' | 'provider_error' | 'timed_out' | 'unsafe_api_base' | 'aborted';

export interface ProviderMetrics {
  /** `seconds`: the call with its retries. */
  readonly onCall: (call: {
    readonly provider: string;
    readonly outcome: CallOutcome;
    readonly seconds: number;
  }) => void;
  readonly onTokens: (provider: string, usage: ModelUsage) => void;
}

/** A name that callers made up becomes `other`, so that the label has as many values as there are providers. */
export const providerLabel = (provider: string): string => providerNamed(provider) ?? 'other';

/** Counts and times calls of providers, and their tokens. One call per registry. */
export const providerMetrics = (register: Registry): ProviderMetrics => {
  const { counter, histogram } = metersOn(register);
  const calls = counter(
    'quire_provider_calls_total',
    'Calls to model providers, by outcome.',
    'provider',
    'outcome',
  );
  const duration = histogram(
    'quire_provider_seconds',
    'Time of a call to a model provider, including its retries.',
    { buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600], labelNames: ['provider'] },
  );
  const tokens = counter(
    'quire_llm_tokens_total',
    'Tokens that providers counted; cached_input is part of input.',
    'provider',
    'direction',
  );
  return {
    onCall: ({ provider, outcome, seconds }) => {
      const label = providerLabel(provider);
      calls.inc({ provider: label, outcome });
      duration.observe({ provider: label }, seconds);
    },
    onTokens: (provider, usage) => {
      const label = providerLabel(provider);
      tokens.inc({ provider: label, direction: 'input' }, usage.input_tokens);
      tokens.inc({ provider: label, direction: 'cached_input' }, usage.cached_input_tokens);
      tokens.inc({ provider: label, direction: 'output' }, usage.output_tokens);
    },
  };
};

/** Counts refusals of heavy slots; all reasons are shown from the start. */
export const heavyRefusals = (register: Registry): ((reason: SlotRefusal) => void) => {
  const refused = metersOn(register).counter(
    'quire_heavy_refused_total',
    'Extractions and conversions refused with 503 because no slot was free.',
    'reason',
  );
  for (const reason of ['full', 'share', 'closing'] as const) refused.inc({ reason }, 0);
  return (reason) => refused.inc({ reason });
};

/** Shows the slots as they are when the metrics are read. */
export const heavyGauges = (register: Registry, slots: HeavySlots): void => {
  const show = pulledGauges(register, () => slots);
  show('quire_heavy_in_use', 'Extractions and conversions that run.', ({ inUse }) => inUse());
  show('quire_heavy_max', 'Extractions and conversions that may run at once.', ({ max }) => max);
};

/** Counts requests refused with 429; both buckets are shown from the start. */
export const rateLimitRefusals = (register: Registry): ((bucket: BucketClass) => void) => {
  const limited = metersOn(register).counter(
    'quire_rate_limited_total',
    'Requests refused with 429, by bucket.',
    'bucket',
  );
  for (const bucket of ['general', 'heavy'] as const) limited.inc({ bucket }, 0);
  return (bucket) => limited.inc({ bucket });
};
