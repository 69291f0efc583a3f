import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { providerNamed } from '@quire/engine/models/modelName';
import type { ModelUsage } from '@quire/engine/ports/modelProvider';
import type { HeavySlots, SlotRefusal } from '../../commands/work/heavySlots.ts';
import type { BucketClass } from '../../http/middleware/limits.ts';

/** How a call of a provider ended. */
export type CallOutcome = 'answered' | 'provider_error' | 'timed_out' | 'unsafe_api_base' | 'aborted';

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
  const registers = [register];
  const calls = new Counter({
    name: 'quire_provider_calls_total',
    help: 'Calls to model providers, by outcome.',
    labelNames: ['provider', 'outcome'] as const,
    registers,
  });
  const duration = new Histogram({
    name: 'quire_provider_seconds',
    help: 'Time of a call to a model provider, including its retries.',
    labelNames: ['provider'] as const,
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
    registers,
  });
  const tokens = new Counter({
    name: 'quire_llm_tokens_total',
    help: 'Tokens that providers counted; cached_input is part of input.',
    labelNames: ['provider', 'direction'] as const,
    registers,
  });
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
  const refused = new Counter({
    name: 'quire_heavy_refused_total',
    help: 'Extractions and conversions refused with 503 because no slot was free.',
    labelNames: ['reason'] as const,
    registers: [register],
  });
  for (const reason of ['full', 'share', 'closing'] as const) refused.inc({ reason }, 0);
  return (reason) => refused.inc({ reason });
};

/** Shows the slots as they are when the metrics are read. */
export const heavyGauges = (register: Registry, slots: HeavySlots): void => {
  const registers = [register];
  new Gauge({
    name: 'quire_heavy_in_use',
    help: 'Extractions and conversions that run.',
    registers,
    collect() {
      this.set(slots.inUse());
    },
  });
  new Gauge({
    name: 'quire_heavy_max',
    help: 'Extractions and conversions that may run at once.',
    registers,
  }).set(slots.max);
};

/** Counts requests refused with 429; both buckets are shown from the start. */
export const rateLimitRefusals = (register: Registry): ((bucket: BucketClass) => void) => {
  const limited = new Counter({
    name: 'quire_rate_limited_total',
    help: 'Requests refused with 429, by bucket.',
    labelNames: ['bucket'] as const,
    registers: [register],
  });
  for (const bucket of ['general', 'heavy'] as const) limited.inc({ bucket }, 0);
  return (bucket) => limited.inc({ bucket });
};
