import { llmCost, type LogLlmCost, type LlmCostKind } from '../../../domain/llmCost/decider.ts';
import { llmCostEvent, llmCostStream } from '../../../domain/llmCost/events.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import { streamWriter, type WriterLimits } from '../writer/streamWriter.ts';
import { writerRules } from '../writer/writerRules.ts';

/** Logs what model calls cost: many a second for one tenant are appended together. */
export type LlmCosts = ReturnType<typeof llmCosts>;

export const llmCosts = (store: EventStore, limits: Partial<WriterLimits> = {}) => {
  const rules = writerRules<LlmCostKind>({ store, decider: llmCost, codec: eventCodec(llmCostEvent) });
  const { execute, forget, close } = streamWriter(rules, llmCostStream, limits);
  return { log: (command: LogLlmCost) => execute(command.data.tenant_id, command), forget, close };
};
