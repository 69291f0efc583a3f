import { setTimeout as pause } from 'node:timers/promises';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import {
  placeHold,
  release,
  settle,
  type Bill,
  type BillingDeps,
  type Settlement,
  type WorkToBill,
} from './billedWork.ts';
import { findBurn } from './findBurn.ts';
import { settleOnce, type HoldNotOpen } from './settleOnce.ts';
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

const settledOnce = async (
  deps: SettleDeps,
  work: WorkToBill,
  done: Settlement,
): Promise<Bill | WorkProblem | HoldNotOpen> => {
  const { hold_id } = done;
  if (hold_id === null) return settle(deps, work, done);
  return settleOnce<Bill, WorkProblem>(
    {
      settle: (held) => settle(deps, work, { ...done, hold_id: held }),
      earlier: () => earlierBill(deps, work, hold_id),
      place: async (held) => {
        const placed = await placeHold(deps, work, held);
        return placed.kind === 'held' ? 'held' : placed;
      },
      giveBack: async (held, bill) => {
        await release(deps, work, { hold_id: held, reason: 'cancelled' });
        return bill;
      },
    },
    hold_id,
  );
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
    const bill = await settledOnce(deps, work, done).catch(() => undefined);
    if (bill?.kind === 'billed' || (bill?.kind === 'problem' && bill.code !== 'busy')) return bill;
    await pause((deps.settlePauseMs ?? SETTLE_PAUSE_MS) * attempt);
  }
  const last = await settledOnce(deps, work, done);
  if (last.kind !== 'hold_not_open') return last;
  throw new Error(`hold ${String(done.hold_id)} is neither open nor settled`);
};
