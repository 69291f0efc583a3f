import type { Registry } from 'prom-client';
import { providerNamed } from '@quire/engine/ports/modelProvider';
import type { ModelUsage } from '@quire/engine/ports/modelProvider';
import type { Logger } from 'pino';
import type { Tracer } from '../../domain/ports/log.ts';
import type { LogCall } from '../commands/deliverWork.ts';
import type { HeavySlots, SlotRefusal } from '../commands/slots.ts';
import type { BucketClass } from '../../domain/ports/services.ts';
import { metersOn, pulledGauges } from './processMetrics.ts';
import { SNAPSHOT_FLAWS } from '../writer/streamFold.ts';
import type { SnapshotNotice, WriterHooks } from '../writer/decideBatch.ts';

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
const providerLabel = (provider: string): string => providerNamed(provider) ?? 'other';

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

/** Counts a call of a provider, and shows it in the trace of the work that made it. */
export const tracedCalls =
  ({ onCall }: Pick<ProviderMetrics, 'onCall'>, tracer: Tracer): ProviderMetrics['onCall'] =>
  (call) => {
    onCall(call);
    const { provider, outcome, seconds } = call;
    const facts = { 'quire.provider': providerLabel(provider), 'quire.outcome': outcome };
    const beganAtMs = Date.now() - seconds * 1000;
    const span = tracer.begin('provider call', { kind: 'client', facts, beganAtMs });
    span.end({}, outcome === 'answered' ? 'ok' : 'failed');
  };

/** Tokens are counted before they are logged: a log that fails changes no metric. */
export const countedCalls =
  ({ onTokens }: ProviderMetrics, log: LogCall): LogCall =>
  (work, call) => {
    if (call.again !== true) onTokens(call.ref.provider, call.usage);
    return log(work, call);
  };

/** Counts refusals of heavy slots; all reasons are shown from the start. */
export const heavyRefusals = (register: Registry): ((reason: SlotRefusal) => void) => {
  const refused = metersOn(register).counter(
    'quire_heavy_refused_total',
    'Times that no slot was free for an extraction or conversion: it went to the queue, or was refused with 503.',
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

/** Shows the callers who wait for the queue, when the metrics are read. */
export const waitingGauges = (register: Registry, waiting: HeavySlots): void => {
  const show = pulledGauges(register, () => waiting);
  show(
    'quire_handed_over_waiting',
    'Callers who wait for a worker, because no slot was free for their work.',
    ({ inUse }) => inUse(),
  );
};

/** Counts ranges of long documents that this process has read, by whether it owned their operation. */
export const rangesRead = (register: Registry): ((by: 'owner' | 'helper', count: number) => void) => {
  const read = metersOn(register).counter(
    'quire_page_ranges_read_total',
    'Ranges of long documents that this process read: of operations that it owned, or that it helped with.',
    'by',
  );
  for (const by of ['owner', 'helper'] as const) read.inc({ by }, 0);
  return (by, count) => read.inc({ by }, count);
};

/** Counts and logs results that were answered and could not be kept. */
export const unkeptResults = (
  register: Registry,
  logger: Pick<Logger, 'error'>,
): ((error: unknown) => void) => {
  const unkept = metersOn(register).counter(
    'quire_results_unkept_total',
    'Results that were answered and could not be kept: their runs have none.',
  );
  return (err) => {
    unkept.inc();
    logger.error({ msg: 'a result was answered and could not be kept', err });
  };
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

/** A snapshot that the log contradicts was changed by somebody: that is logged, not only counted. */
const snapshotNotices = (
  register: Registry,
  logger: Pick<Logger, 'warn'>,
): ((notice: SnapshotNotice) => void) => {
  const { counter } = metersOn(register);
  const ignored = counter(
    'quire_snapshots_ignored_total',
    'Snapshots of accounts that were not used, by reason; the account was read from the log instead.',
    'reason',
  );
  const unsaved = counter(
    'quire_snapshots_unsaved_total',
    'Snapshots of accounts that were not saved, by reason; such accounts take longer to load.',
    'reason',
  );
  for (const reason of SNAPSHOT_FLAWS) ignored.inc({ reason }, 0);
  return (notice) => {
    const { kind, stream, reason } = notice;
    if (kind === 'ignored') {
      ignored.inc({ reason });
      logger.warn({ msg: 'a snapshot was ignored: the account was read from the log', stream, reason });
      return;
    }
    unsaved.inc({ reason });
    if (reason === 'refused') logger.warn({ msg: 'a snapshot was not saved', stream, err: notice.error });
  };
};

/** Metrics and log lines of the account writer. */
export const writerHooks = (register: Registry, logger: Pick<Logger, 'warn'>): WriterHooks => {
  const { counter, histogram } = metersOn(register);
  const commands = histogram(
    'quire_writer_batch_commands',
    'Commands that the account writer put into one append.',
    { buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256] },
  );
  const seconds = histogram(
    'quire_writer_batch_seconds',
    'Time from the decision of a batch to its outcome.',
    { buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5], labelNames: ['outcome'] },
  );
  const unknown = counter(
    'quire_writer_unknown_total',
    'Appends whose outcome was unknown and that were sent again unchanged.',
  );
  return {
    onBatch: (batch) => {
      commands.observe(batch.commands);
      seconds.observe({ outcome: batch.outcome }, batch.ms / 1000);
    },
    onUnknown: () => unknown.inc(),
    onSnapshot: snapshotNotices(register, logger),
  };
};
