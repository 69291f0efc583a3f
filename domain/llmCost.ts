import { Map as ImmutableMap } from 'immutable';
import { z } from 'zod';
import { accept, type Command, type Decider, event, reject, type StreamKind } from './kernel/decider.ts';
import { billingType } from './account/messages.ts';
import { decimalText, instant, pages, tenantId } from './kernel/amounts.ts';

const tokens = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** What one call of a model provider used. `job_id` is the operation that it was made for. */
export const llmCostLogged = event('LlmCostLogged', {
  cost_id: z.string(),
  tenant_id: tenantId,
  /** The caller's own ID of the entry: the same one again changes nothing. */
  entry_id: z.string().nullable(),
  fingerprint: z.string(),
  job_id: z.string(),
  operation: z.string(),
  provider: z.string(),
  model_name: z.string(),
  input_tokens: tokens,
  output_tokens: tokens,
  /** Part of `input_tokens`. */
  cached_input_tokens: tokens,
  pages: pages.nullable(),
  /** As reported, or computed by the price in force; null while no price is known. */
  cost_usd: decimalText.nullable(),
  cost_source: z.enum(['reported', 'computed']).nullable(),
  document_id: z.string().nullable(),
  task_id: z.string().nullable(),
  billing_type: billingType,
  /** True where the whole operation was free for the tenant. */
  free_tier: z.boolean(),
  occurred_at: instant,
  created_at: instant,
});

export const llmCostEvent = z.discriminatedUnion('type', [llmCostLogged]);

type LlmCostEvent = z.output<typeof llmCostEvent>;

type Logged = LlmCostEvent['data'];

/** Logs what one call of a model used; its cost was computed by the caller where a price is known. */
export type LogLlmCost = Command<'LogLlmCost', Omit<Logged, 'created_at'>>;

interface LlmCostRejection {
  readonly code: 'idempotency_key_reused';
}

/** What is remembered of an entry whose ID the caller chose. */
type LoggedEntry = Pick<Logged, 'cost_id' | 'fingerprint' | 'cost_usd' | 'created_at'>;

interface LlmCostState {
  readonly entries: ImmutableMap<string, LoggedEntry>;
}

export type LlmCostKind = StreamKind<LlmCostState, LogLlmCost, LlmCostEvent, LlmCostRejection>;

/** One stream a tenant; an entry ID takes effect once, for ever. */
export const llmCost: Decider<LlmCostKind> = {
  initialState: { entries: ImmutableMap() },
  decide: ({ entries }, { data, meta }) => {
    const earlier = data.entry_id === null ? undefined : entries.get(data.entry_id);
    if (earlier?.fingerprint === data.fingerprint) return accept();
    if (earlier !== undefined) return reject({ code: 'idempotency_key_reused' });
    return accept({ type: 'LlmCostLogged', data: { ...data, created_at: meta.now } });
  },
  evolve: (state, { data }) => {
    if (data.entry_id === null) return state;
    const { cost_id, fingerprint, cost_usd, created_at } = data;
    return { entries: state.entries.set(data.entry_id, { cost_id, fingerprint, cost_usd, created_at }) };
  },
};

export const llmCostStream = (tenant: string): string => `llmCost-${tenant}`;
