import { reject } from '../kernel/decider.ts';
import { freePagesLeft, pricePages } from '../rating/rating.ts';
import { minus } from '../kernel/units.ts';
import type { HoldCredits, ReleaseHold, SettleHold } from './commands.ts';
import { covers, fits, repeated, reused, withoutTenant, type AccountDecision } from './decision.ts';
import type { AccountEventOf } from './events.ts';
import { accepted } from './opening.ts';
import { availableIn, type AccountState } from './state.ts';

type Hold = AccountEventOf<'CreditsHeld'>['data'];

/** Free pages that no bill and no open hold has taken yet. */
export const freePagesOf = (state: AccountState, allowance: number): number =>
  freePagesLeft(allowance, state.free_pages_used + state.free_pages_held);

/** Sets aside free pages first, then credits. At most one hold an operation is open or billed. */
export const holdCredits = (state: AccountState, command: HoldCredits): AccountDecision => {
  const { hold_id, operation_id } = command.data;
  const open = state.holds.get(hold_id);
  if (open !== undefined) return isSameWork(open, command.data) ? repeated() : reused();
  if (state.closed.has(hold_id)) return notOpen(state, hold_id);
  const other = state.operations.get(operation_id);
  if (other !== undefined) return state.holds.has(other) ? reused() : notOpen(state, other);

  const { free_pages_allowance, ...work } = withoutTenant(command.data);
  const priced = pricePages(work.pages, freePagesOf(state, free_pages_allowance), work.credits_per_page);
  const available_credits = availableIn(state);
  if (!priced.payable || !covers(available_credits, priced.credits))
    return reject({ code: 'insufficient_credits', required_credits: priced.credits, available_credits });
  const { free_pages, credits } = priced;
  return accepted(state, command, {
    type: 'CreditsHeld',
    data: { ...work, free_pages, credits, created_at: command.meta.now },
  });
};

const isSameWork = (open: Hold, asked: HoldCredits['data']): boolean =>
  open.operation_id === asked.operation_id &&
  open.operation === asked.operation &&
  open.extraction_mode === asked.extraction_mode &&
  open.billing_type === asked.billing_type &&
  open.pages === asked.pages;

/** Closes a hold by a burn: no more pages than held, the free ones first. The rest becomes available. */
export const settleHold = (state: AccountState, command: SettleHold): AccountDecision => {
  const { data, meta } = command;
  const hold = state.holds.get(data.hold_id);
  if (hold === undefined) {
    const closed = state.closed.get(data.hold_id);
    return closed?.usage_id === data.usage_id ? repeated() : notOpen(state, data.hold_id);
  }
  if (data.pages > hold.pages) return reject({ code: 'burn_exceeds_hold' });

  const { free_pages, credits } = pricePages(data.pages, hold.free_pages, hold.credits_per_page);
  if (!fits(state, { total: 'used', delta: credits })) return reject({ code: 'credits_out_of_range' });
  const { operation_id, operation, category, extraction_mode, billing_type } = hold;
  return accepted(state, command, {
    type: 'CreditsBurned',
    data: {
      ...withoutTenant(data),
      operation_id,
      operation,
      category,
      extraction_mode,
      billing_type,
      credits_per_page: hold.credits_per_page,
      billing_config_version: hold.billing_config_version,
      idempotency_key: null,
      fingerprint: null,
      free_pages,
      credits,
      created_at: meta.now,
      balance_after: minus(state.balance, credits),
    },
  });
};

/** Closes a hold unspent. To release again what was released is a repeat. */
export const releaseHold = (state: AccountState, command: ReleaseHold): AccountDecision => {
  const { hold_id, reason } = command.data;
  if (state.holds.has(hold_id))
    return accepted(state, command, {
      type: 'HoldReleased',
      data: { hold_id, reason, released_at: command.meta.now },
    });
  return state.closed.get(hold_id)?.usage_id === null ? repeated() : notOpen(state, hold_id);
};

const notOpen = (state: AccountState, hold_id: string): AccountDecision => {
  const closed = state.closed.get(hold_id);
  if (closed === undefined) return reject({ code: 'hold_not_open', ended: 'unknown' });
  return reject({ code: 'hold_not_open', ended: closed.usage_id === null ? 'released' : 'settled' });
};
