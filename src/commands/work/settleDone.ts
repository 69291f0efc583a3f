import { setTimeout as pause } from 'node:timers/promises';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import {
  placeHold,
  release,
  settle,
  type Bill,
  type BillingDeps,
  type HoldNotOpen,
  type Settlement,
  type WorkToBill,
} from './billedWork.ts';
import { findBurn } from './findBurn.ts';
import type { WorkProblem } from './workProblem.ts';

export interface SettleDeps extends BillingDeps {
  readonly store: EventStore;
  /** The pause after the first try to settle, ms; left out: a quarter of a second. */
  readonly settlePauseMs?: number;
}

/** Tries to settle before the caller is told to ask again, and the pause after the first of them, ms. */
const SETTLE_ATTEMPTS = 4;
const SETTLE_PAUSE_MS = 250;

/** The bill of an earlier settlement, if there was one. */
const earlierBill = async (
  { store, accounts }: SettleDeps,
  { tenant_id, operation_id }: WorkToBill,
  holdId: string,
): Promise<Bill | undefined> => {
  const burn = await findBurn(store, tenant_id, { operation_id, hold_id: holdId });
  if (burn === undefined) return undefined;
  // Another process may have billed it: what this one remembers can be older than the burn.
  const { balance } = await accounts.stateOf(tenant_id, 0);
  const cost = { credits_used: burn.credits, pages: burn.pages, balance_remaining: balance };
  return { kind: 'billed', cost, free_pages: burn.free_pages, position: undefined };
};

/**
 * The hold ran out before the work was settled: it is placed anew, under an ID that follows from the old
 * one, so that two retries at once share it, and only one of them can settle it.
 */
const settleAgain = async (
  deps: SettleDeps,
  work: WorkToBill,
  done: Settlement & { readonly hold_id: string },
) => {
  const hold = await placeHold(deps, work, `${done.hold_id}_again`);
  if (hold.kind !== 'held') return hold;
  const earlier = await earlierBill(deps, work, done.hold_id);
  if (earlier !== undefined) {
    await release(deps, work, { hold_id: hold.hold_id, reason: 'cancelled' });
    return earlier;
  }
  return settle(deps, work, { ...done, hold_id: hold.hold_id });
};

const settleOnce = async (
  deps: SettleDeps,
  work: WorkToBill,
  done: Settlement,
): Promise<Bill | WorkProblem | HoldNotOpen> => {
  const first = await settle(deps, work, done);
  if (first.kind !== 'hold_not_open' || done.hold_id === null) return first;
  const settlement = { ...done, hold_id: done.hold_id };
  return (await earlierBill(deps, work, done.hold_id)) ?? settleAgain(deps, work, settlement);
};

/**
 * Settles work that was done, once, whatever happened before: the hold may be open, settled by a request
 * that never got its answer, or released because it ran out. An outcome that is not known, or cannot be
 * read now, is asked for again: work that is delivered is billed, and work that is not must not be.
 */
export const settleDone = async (
  deps: SettleDeps,
  work: WorkToBill,
  done: Settlement,
): Promise<Bill | WorkProblem> => {
  for (let attempt = 1; attempt < SETTLE_ATTEMPTS; attempt += 1) {
    // An error that stays is thrown by the last attempt.
    const bill = await settleOnce(deps, work, done).catch(() => undefined);
    if (bill?.kind === 'billed' || (bill?.kind === 'problem' && bill.code !== 'busy')) return bill;
    await pause((deps.settlePauseMs ?? SETTLE_PAUSE_MS) * attempt);
  }
  const last = await settleOnce(deps, work, done);
  if (last.kind !== 'hold_not_open') return last;
  throw new Error(`hold ${String(done.hold_id)} is neither open nor settled`);
};
