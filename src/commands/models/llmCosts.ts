import { llmCost, type LogLlmCost, type LlmCostKind } from '../../../domain/llmCost/decider.ts';
import { llmCostEvent, llmCostStream } from '../../../domain/llmCost/events.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import type { Outcome } from '../writer/outcome.ts';
import { streamWriter, type Forgotten, type WriterLimits } from '../writer/streamWriter.ts';
import {
  ATTEMPTS_MAX,
  BATCH_MAX,
  DEFAULT_CONFLICT_PACING,
  DEFAULT_LIMITS,
  DEFAULT_PERSISTENCE,
} from '../writer/writerDefaults.ts';

/** Logs what model calls cost: many a second for one tenant are appended together. */
export interface LlmCosts {
  log(command: LogLlmCost): Promise<Outcome<LlmCostKind>>;
  /** Drops what is remembered of a log that was replaced. */
  forget(what: Forgotten): void;
  close(): Promise<void>;
}

const codec = eventCodec(llmCostEvent);

export const llmCosts = (store: EventStore, limits: Partial<WriterLimits> = {}): LlmCosts => {
  const { initialState, evolve } = llmCost;
  const rules = {
    store,
    decider: llmCost,
    fold: { initialState, evolve, codec },
    snapshots: undefined,
    persistence: DEFAULT_PERSISTENCE,
    conflictPacing: DEFAULT_CONFLICT_PACING,
    hooks: {},
    attemptsMax: ATTEMPTS_MAX,
    batchMax: BATCH_MAX,
  };
  const writer = streamWriter(rules, { ...DEFAULT_LIMITS, ...limits }, llmCostStream);
  return {
    log: (command) => writer.execute(command.data.tenant_id, command),
    forget: (what) => writer.forget(what),
    close: () => writer.close(),
  };
};
