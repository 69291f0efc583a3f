import { z } from 'zod';
import { actor } from '../../domain/kernel/decider.ts';
import { instant, pages, tenantId } from '../../domain/kernel/amounts.ts';
import { llmCostLogged } from '../../domain/llmCost.ts';

/** A call of a model that was paid for: all of its cost entry but the cost, which the prices tell. */
const modelCall = z.strictObject({
  kind: z.literal('model_call'),
  entry: llmCostLogged.shape.data
    .omit({ cost_usd: true, cost_source: true, created_at: true })
    .extend({ entry_id: z.string() }),
  correlation_id: z.string(),
  actor,
});
export type ModelCallFact = z.output<typeof modelCall>;

/** How an extraction or conversion ended. */
const workEnd = z.strictObject({
  kind: z.literal('work_end'),
  operation: z.enum(['extract', 'to_markdown']),
  operation_id: z.string(),
  tenant_id: tenantId,
  pages,
  end: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('completed'),
      status: z.enum(['success', 'partial']),
      free_pages: pages,
      duration_ms: z.number().int().min(0),
    }),
    z.strictObject({ kind: z.literal('failed'), code: z.string() }),
  ]),
  ended_at: instant,
  correlation_id: z.string(),
  actor,
});
export type WorkEndFact = z.output<typeof workEnd>;

/** What work has done and the log has to know in the end, whatever is away meanwhile. */
export const workFact = z.discriminatedUnion('kind', [modelCall, workEnd]);
export type WorkFact = z.output<typeof workFact>;

/** The same fact has the same name, and facts of different names never mean the same. */
export const nameOfFact = (fact: WorkFact): string =>
  fact.kind === 'model_call'
    ? `call-${fact.entry.entry_id.replaceAll(':', '.')}`
    : `end-${fact.operation_id}`;
