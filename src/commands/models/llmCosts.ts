import { llmCost, type LogLlmCost, type LlmCostKind } from '../../../domain/llmCost/decider.ts';
import { llmCostEvent, llmCostStream } from '../../../domain/llmCost/events.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import { streamWriter, type WriterLimits } from '../writer/streamWriter.ts';
import { writerRules, type WriterHooks } from '../writer/writerRules.ts';

/** Logs what model calls cost: many a second for one tenant are appended together. */
export type LlmCosts = ReturnType<typeof llmCosts>;

export const llmCosts = (store: EventStore, limits: Partial<WriterLimits> = {}, hooks: WriterHooks = {}) => {
  const of = { store, decider: llmCost, codec: eventCodec(llmCostEvent) };
  const rules = writerRules<LlmCostKind>(of, { hooks });
  const { execute, forget, close } = streamWriter(rules, llmCostStream, limits);
  return { log: (command: LogLlmCost) => execute(command.data.tenant_id, command), forget, close };
};
