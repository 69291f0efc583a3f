import { accept, reject, type Decision } from '../kernel/decider.ts';
import { asCredits, minus, MOVEMENT_MAX, NO_CREDITS, type Credits } from '../kernel/amounts.ts';
import {
  type AccountEvent,
  type AccountEventOf,
  type AccountRejection,
  type ChargeCredits,
  type HoldCredits,
  type ReleaseHold,
  type SettleHold,
  NO_END,
} from './messages.ts';
import { sortedTags, withTags } from '../kernel/tags.ts';
import { refusedByBudget, withAlerts } from './budgets.ts';
import { type AccountState, availableIn, chargeAt, evolve, opening, RELEASED } from './state.ts';

type AccountDecision = Decision<AccountEvent, AccountRejection>;

/** How many pages are free and what the others cost. */
interface PageCost {
  readonly free_pages: number;
  /** (pages − free pages) × credits a page. */
  readonly credits: Credits;
}

/**
 * Free pages first, then credits: the one formula of quotes, holds and bills. A price beyond 2^53 − 1 is
 * that much: more than any account has.
 */
export const pageCost = (pages: number, freePagesLeft: number, creditsPerPage: Credits): PageCost => {
  const free_pages = Math.min(pages, Math.max(0, freePagesLeft));
  const exact = (pages - free_pages) * creditsPerPage;
  return { free_pages, credits: asCredits(Math.min(exact, Number.MAX_SAFE_INTEGER)) };
};

/** Free pages that are neither used nor held. */
export const freePagesLeft = (state: AccountState, allowance: number): number =>
  Math.max(0, allowance - state.free_pages_used - state.free_pages_held);

/** Whether an account can pay: nothing always, also from a debt; a price that was capped never. */
export const covers = (available: Credits, required: Credits): boolean =>
  required === NO_CREDITS || (required <= available && required < Number.MAX_SAFE_INTEGER);

const tooLittle = (state: AccountState, required: Credits): AccountRejection | undefined => {
  const available_credits = availableIn(state);
  if (covers(available_credits, required)) return undefined;
  return { code: 'insufficient_credits', required_credits: required, available_credits };
};

type Hold = AccountEventOf<'CreditsHeld'>['data'];

/** Holds of older releases do not name their request: their ID has a part of its digest. */
const isSameRequest = (open: Hold, { fingerprint }: HoldCredits['data']): boolean =>
  open.fingerprint === undefined || fingerprint === undefined || open.fingerprint === fingerprint;

const isSameWork = (open: Hold, asked: HoldCredits['data']): boolean =>
  isSameRequest(open, asked) &&
  open.operation_id === asked.operation_id &&
  open.operation === asked.operation &&
  open.extraction_mode === asked.extraction_mode &&
  open.billing_type === asked.billing_type &&
  open.completion_window === asked.completion_window &&
  open.pages === asked.pages;

/**
 * Whether this hold, or another of its operation, is open or was closed. An open hold keeps its
 * price; a closed one stays closed, so an operation is billed once, and not after it was given up.
 */
const earlierHold = (state: AccountState, data: HoldCredits['data']): AccountDecision | undefined => {
  const open = state.holds.get(data.hold_id);
  if (open !== undefined)
    return isSameWork(open, data) ? accept() : reject({ code: 'idempotency_key_reused' });
  const other = state.operations.get(data.operation_id);
  if (other === undefined) return undefined;
  const another = state.holds.get(other);
  if (another?.operation_id === data.operation_id)
    return data.beside === true && isSameRequest(another, data)
      ? undefined
      : reject({ code: 'idempotency_key_reused' });
  return data.reopens === true && other === RELEASED ? undefined : reject({ code: 'hold_not_open' });
};

/** Holds without an end: those of work that waits. */
const lastingHolds = ({ holds }: AccountState): number =>
  holds.count(({ expires_at }) => expires_at === NO_END);

const isFull = (state: AccountState, { open_max }: HoldCredits['data']): boolean =>
  open_max !== undefined && state.holds.size >= open_max && lastingHolds(state) >= open_max;

/** Sets aside free pages and credits for one operation. The same hold again does nothing. */
export const holdCredits = (state: AccountState, { data, meta }: HoldCredits): AccountDecision => {
  const earlier = earlierHold(state, data);
  if (earlier !== undefined) return earlier;
  const { free_pages_allowance, flat_credits, open_max = 0 } = data;
  if (isFull(state, data)) return reject({ code: 'too_many_open', open_max });
  if (data.paid_plan_required === true && state.plan === 'free')
    return reject({ code: 'plan_required', plan: state.plan, required_plan: 'paid' });
  const cost =
    flat_credits === undefined
      ? pageCost(data.pages, freePagesLeft(state, free_pages_allowance), data.credits_per_page)
      : { free_pages: 0, credits: flat_credits };
  const rejection = tooLittle(state, cost.credits);
  if (rejection !== undefined) return reject(rejection);
  if (cost.credits > MOVEMENT_MAX) return reject({ code: 'credits_out_of_range' });
  const held = { type: 'CreditsHeld', data: heldAs(data, cost, meta.now) } as const;
  const refused = refusedByBudget(state, { ...held.data, idempotency_key: null }, meta);
  if (refused !== undefined) return refused;
  return accept(...opening(state, data.tenant_id, meta), ...withAlerts(state, held, evolve));
};

/** Members one by one, as in every event of a burn: a rest of an object costs more than all the rules. */
const heldAs = (data: HoldCredits['data'], { free_pages, credits }: PageCost, created_at: string): Hold => {
  const hold: Hold = {
    hold_id: data.hold_id,
    operation_id: data.operation_id,
    operation: data.operation,
    category: data.category,
    extraction_mode: data.extraction_mode,
    billing_type: data.billing_type,
    pages: data.pages,
    free_pages,
    credits_per_page: data.credits_per_page,
    credits,
    billing_config_version: data.billing_config_version,
    created_at,
    expires_at: data.expires_at,
  };
  if (data.fingerprint !== undefined) hold.fingerprint = data.fingerprint;
  if (data.completion_window !== undefined) hold.completion_window = data.completion_window;
  if (data.taken_for !== undefined) hold.taken_for = data.taken_for;
  return scoped(hold, data);
};

/** The hold with what it is for; what its command does not say is left out. */
const scoped = (hold: Hold, { project_id, task_id, api_key_id, tags }: HoldCredits['data']): Hold => {
  if (project_id !== undefined) hold.project_id = project_id;
  if (task_id !== undefined) hold.task_id = task_id;
  if (api_key_id !== undefined) hold.api_key_id = api_key_id;
  const sorted = sortedTags(tags);
  if (sorted !== undefined) hold.tags = sorted;
  return hold;
};

/** Work without pages was held at its own price, and costs that. */
const burnOf = (hold: Hold, pages: number): PageCost =>
  hold.pages === 0
    ? { free_pages: 0, credits: hold.credits }
    : pageCost(pages, hold.free_pages, hold.credits_per_page);

/**
 * Closes a hold by a burn, at the price of the hold: of the pages done, those held as free are free. What the hold is
 * for, its burn is for: a request with another key of the tenant may settle it.
 */
export const settleHold = (state: AccountState, { data, meta }: SettleHold): AccountDecision => {
  const hold = state.holds.get(data.hold_id);
  if (hold === undefined) return reject({ code: 'hold_not_open' });
  if (data.pages > hold.pages) return reject({ code: 'burn_exceeds_hold' });
  const { free_pages, credits } = burnOf(hold, data.pages);
  const burn: AccountEventOf<'CreditsBurned'>['data'] = {
    usage_id: data.usage_id,
    operation_id: hold.operation_id,
    hold_id: data.hold_id,
    idempotency_key: null,
    fingerprint: hold.fingerprint ?? null,
    operation: hold.operation,
    category: hold.category,
    extraction_mode: hold.extraction_mode,
    billing_type: hold.billing_type,
    pages: data.pages,
    free_pages,
    credits_per_page: hold.credits_per_page,
    credits,
    billing_config_version: hold.billing_config_version,
    project_id: hold.project_id ?? data.project_id,
    task_id: hold.task_id ?? data.task_id,
    document_id: data.document_id,
    job_id: data.job_id,
    api_key_id: hold.api_key_id ?? data.api_key_id,
    created_at: meta.now,
    balance_after: minus(state.balance, credits),
  };
  if (hold.completion_window !== undefined) burn.completion_window = hold.completion_window;
  if (hold.tags !== undefined) burn.tags = hold.tags;
  if (data.delivered !== undefined) burn.delivered = data.delivered;
  return accept(...withAlerts(state, { type: 'CreditsBurned', data: burn }, evolve));
};

/** Closes a hold unspent. */
export const releaseHold = (state: AccountState, { data, meta }: ReleaseHold): AccountDecision =>
  state.holds.has(data.hold_id)
    ? accept({
        type: 'HoldReleased',
        data: { hold_id: data.hold_id, reason: data.reason, released_at: meta.now },
      })
    : reject({ code: 'hold_not_open' });

/** A flat burn, once per idempotency key. */
export const chargeCredits = (state: AccountState, { data, meta }: ChargeCredits): AccountDecision => {
  const earlier = chargeAt(state, data.idempotency_key);
  if (earlier?.fingerprint === data.fingerprint) return accept();
  if (earlier !== undefined) return reject({ code: 'idempotency_key_reused' });
  if (data.credits > MOVEMENT_MAX) return reject({ code: 'credits_out_of_range' });
  if (data.paid_plan_required && state.plan === 'free')
    return reject({ code: 'plan_required', plan: state.plan, required_plan: 'paid' });
  const rejection = tooLittle(state, data.credits);
  if (rejection !== undefined) return reject(rejection);
  const event = { type: 'CreditsBurned', data: chargedAs(state, data, meta.now) } as const;
  const refused = refusedByBudget(state, event.data, meta);
  if (refused !== undefined) return refused;
  return accept(...opening(state, data.tenant_id, meta), ...withAlerts(state, event, evolve));
};

const chargedAs = (
  state: AccountState,
  data: ChargeCredits['data'],
  created_at: string,
): AccountEventOf<'CreditsBurned'>['data'] => ({
  usage_id: data.usage_id,
  operation_id: data.usage_id,
  hold_id: null,
  idempotency_key: data.idempotency_key,
  fingerprint: data.fingerprint,
  operation: data.operation,
  category: data.category,
  extraction_mode: null,
  billing_type: data.billing_type,
  pages: 0,
  free_pages: 0,
  credits_per_page: NO_CREDITS,
  credits: data.credits,
  billing_config_version: data.billing_config_version,
  project_id: data.project_id,
  task_id: data.task_id,
  document_id: data.document_id,
  job_id: data.job_id,
  api_key_id: data.api_key_id,
  ...withTags(data.tags),
  created_at,
  balance_after: minus(state.balance, data.credits),
});
