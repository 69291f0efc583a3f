import {
  llmCost,
  llmCostEvent,
  type LlmCostKind,
  llmCostStream,
  type LogLlmCost,
} from '../../../domain/llmCost.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
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
