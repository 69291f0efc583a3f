import type { z } from 'zod';
import type { Command } from '../kernel/command.ts';
import { accept, type Decider, type Decision, type DomainEvent, type StreamKind } from '../kernel/decider.ts';
import type { completedMembers, failedMembers, requestedMembers } from './usageMembers.ts';

type Members<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

/** What happened to an extraction or conversion, and the members of its event that both kinds have. */
export type UsageFact =
  | { readonly happened: 'Requested'; readonly data: Members<typeof requestedMembers> }
  | { readonly happened: 'Completed'; readonly data: Members<typeof completedMembers> }
  | { readonly happened: 'Failed'; readonly data: Members<typeof failedMembers> };

export interface UsageState {
  readonly requested: Members<typeof requestedMembers> | null;
  readonly end: Exclude<UsageFact, { happened: 'Requested' }> | null;
}

export type UsageKind = StreamKind<UsageState, Command<'Record', UsageFact>, DomainEvent, never>;

/** When it ended; null while it has not. */
export const usageEndedAt = ({ end }: UsageState): string | null => {
  if (end === null) return null;
  return end.happened === 'Completed' ? end.data.completed_at : end.data.failed_at;
};

const HAPPENED = ['Requested', 'Completed', 'Failed'] as const;

/** The event as both kinds have it: its codec has checked it against the schema of its type. */
const factOf = ({ type, data }: DomainEvent): UsageFact =>
  ({ happened: HAPPENED.find((one) => type.endsWith(one)), data }) as unknown as UsageFact;

/**
 * Measured work is requested once, and then ends once: a repeat, or whatever comes after the end, is not written.
 * Work that ends before it was begun (it was cancelled) leaves its end alone, so that it is never requested later.
 */
export const usage = (eventOf: (fact: UsageFact) => DomainEvent): Decider<UsageKind> => ({
  initialState: { requested: null, end: null },
  decide: ({ requested, end }, { data: fact }): Decision<DomainEvent, never> => {
    if (end !== null || (fact.happened === 'Requested' && requested !== null)) return accept<DomainEvent>();
    return accept(eventOf(fact));
  },
  evolve: (state, event) => {
    const fact = factOf(event);
    if (fact.happened === 'Requested') return { ...state, requested: state.requested ?? fact.data };
    // Older logs have repeats; what was completed stays completed.
    return state.end?.happened === 'Completed' ? state : { ...state, end: fact };
  },
});
