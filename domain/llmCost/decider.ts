import { Map as ImmutableMap } from 'immutable';
import type { Command } from '../kernel/command.ts';
import { accept, reject, type Decider, type StreamKind } from '../kernel/decider.ts';
import type { LlmCostEvent } from './events.ts';

type Logged = LlmCostEvent['data'];

/** Logs what one call of a model used; its cost was computed by the caller where a price is known. */
export type LogLlmCost = Command<'LogLlmCost', Omit<Logged, 'created_at'>>;

interface LlmCostRejection {
  readonly code: 'idempotency_key_reused';
}

/** What is remembered of an entry that has an ID of the caller's own. */
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
