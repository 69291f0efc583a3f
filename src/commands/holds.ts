import {
  type AccountEventOf,
  type AccountRejection,
  accountStream,
  type HoldCredits,
  type ReleaseHold,
  type SettleHold,
} from '../../domain/account/messages.ts';
import { type AccountState, RELEASED } from '../../domain/account/state.ts';
import { laterBy, MOVEMENT_MAX } from '../../domain/kernel/amounts.ts';
import { deterministicEventId } from '../../domain/kernel/chain.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import { accountCodec, type AccountWriter } from '../writer/accountWriter.ts';
import { SYSTEM } from '../writer/commandMeta.ts';
import type { NotNow } from '../writer/decideBatch.ts';
import type { Payments } from './money/payments.ts';
import { type Sweeper, sweeperOf } from '../writer/sweeper.ts';
import { finishTransfer, type Leaving } from './money/transfers.ts';
import { misfit, workProblem, type WorkProblem } from './workProblem.ts';

/** The accounts whose credits are held, and their log. */
export interface HoldDeps {
  readonly accounts: Pick<AccountWriter, 'execute' | 'stateOf' | 'ask'>;
  readonly store: EventStore;
}

/** An open hold, of any request. */
export interface Held {
  readonly kind: 'held';
  readonly hold: Hold;
}

type Hold = AccountEventOf<'CreditsHeld'>['data'];

/** Whether all pages are free ones of the tenant. */
export const isFree = ({ pages, free_pages }: Hold): boolean => free_pages === pages;

/** The hold, or its operation, was settled or released before. */
export interface HoldNotOpen {
  readonly kind: 'hold_not_open';
  /** It was settled. */
  readonly isBilled: boolean;
}

/** The hold is open for other work, or its operation has another one. */
export interface OtherHold {
  readonly kind: 'other_hold';
  /** It is for the same request, which is on its way by another route. */
  readonly isSame: boolean;
}

type Burn = AccountEventOf<'CreditsBurned'>['data'];

/** A hold that was burned. `balance` is the one after it, where this very request has burned it. */
interface Settled {
  readonly kind: 'settled';
  readonly burn: Burn;
  readonly balance: number | undefined;
  readonly position: bigint | undefined;
}

const notNow = (kind: NotNow['kind']): WorkProblem =>
  workProblem(
    'busy',
    kind === 'unknown'
      ? 'The event log did not answer in time. Send the request again with the same Idempotency-Key.'
      : 'The account is busy. Send the request again in a moment.',
  );

export const planRequired = (plan: string): WorkProblem =>
  workProblem('plan_required', 'Training needs a paid plan. Buy credits first: a first sale sets it.', {
    plan,
    required_plan: 'paid',
  });

export const tooLittle = (required_credits: number, available_credits: number): WorkProblem =>
  workProblem(
    'insufficient_credits',
    `This needs ${String(required_credits)} credits and ${String(available_credits)} are available. ` +
      'Buy credits, or ask for less work.',
    { required_credits, available_credits },
  );

type Reached = Extract<AccountRejection, { readonly code: 'budget_reached' }>;

/** Why a budget does not let work pass. */
export const budgetSentence = (of: Reached): string => {
  const { limit_credits, used_credits, held_credits, required_credits, resets_at } = of;
  const spent = `${String(used_credits)} used and ${String(held_credits)} held of ${String(limit_credits)} credits`;
  const next = resets_at === null ? 'It never begins anew' : `It begins anew at ${resets_at}`;
  return (
    `Budget ${of.budget_id} has ${spent}, and this needs ${String(required_credits)}. ${next}. ` +
    'Ask for less work, or have the budget raised.'
  );
};

const budgetReached = (rejection: Reached): WorkProblem => {
  const { code, ...members } = rejection;
  return workProblem(code, budgetSentence(rejection), members);
};

export const tooManyOpen = (open_max: number): WorkProblem =>
  workProblem('busy', `At most ${String(open_max)} operations of a tenant may wait or run at once.`);

/** Whether the open hold of an operation is for this request and these pages. */
const isForRequest = (
  { holds, operations }: AccountState,
  { operation_id, fingerprint, pages }: HoldCredits['data'],
): boolean => {
  const open = holds.get(operations.get(operation_id) ?? '');
  return fingerprint !== undefined && open?.fingerprint === fingerprint && open.pages === pages;
};

/** Why an account does not hold, as an answer. */
const refusalOf = (rejection: AccountRejection): WorkProblem => {
  switch (rejection.code) {
    case 'plan_required':
      return planRequired(rejection.plan);
    case 'insufficient_credits':
      return tooLittle(rejection.required_credits, rejection.available_credits);
    case 'credits_out_of_range':
      return misfit(['body'], `One movement is at most ${String(MOVEMENT_MAX)} credits: ask for less work.`);
    case 'budget_reached':
      return budgetReached(rejection);
    case 'too_many_open':
      return tooManyOpen(rejection.open_max);
    default:
      throw new Error(`a hold was rejected with ${rejection.code}`);
  }
};

/** Sets credits aside, free pages first. The same hold again changes nothing. */
export const holdCredits = async (
  { accounts }: Pick<HoldDeps, 'accounts'>,
  data: HoldCredits['data'],
  meta: CommandMeta,
): Promise<Held | HoldNotOpen | OtherHold | WorkProblem> => {
  const outcome = await accounts.execute({ type: 'HoldCredits', data, meta });
  if (outcome.kind === 'done') {
    const hold = outcome.state.holds.get(data.hold_id);
    // Its answer was lost, and the log has a refusal of it: asked again, it is told why.
    return hold === undefined ? notNow('unknown') : { kind: 'held', hold };
  }
  if (outcome.kind !== 'rejected') return notNow(outcome.kind);
  const { rejection, state } = outcome;
  if (rejection.code === 'hold_not_open')
    return { kind: 'hold_not_open', isBilled: state.operations.get(data.operation_id) !== RELEASED };
  if (rejection.code === 'idempotency_key_reused')
    return { kind: 'other_hold', isSame: isForRequest(state, data) };
  return refusalOf(rejection);
};

interface Released {
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote?: (tenantId: string, position: bigint) => void;
}

/**
 * Gives a hold back. `closed`: it was settled or released before, and stays so. `not_now`: ask again, or let it
 * expire.
 */
export const releaseHold = async (
  { accounts, wrote }: Pick<HoldDeps, 'accounts'> & Released,
  data: ReleaseHold['data'],
  meta: CommandMeta,
): Promise<'released' | 'closed' | 'not_now'> => {
  const outcome = await accounts.execute({ type: 'ReleaseHold', data, meta });
  if (outcome.kind === 'rejected') return 'closed';
  if (outcome.kind !== 'done') return 'not_now';
  if (outcome.position !== undefined) wrote?.(data.tenant_id, outcome.position);
  return 'released';
};

/** Work, and the hold that it was asked for under; null: it is not billed. */
interface HeldWork {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly hold_id: string | null;
}

/**
 * Whether work was given up permanently: it has no open hold, and was not billed. Holds that the account no longer
 * remembers are looked up in its stream, back to the work's first hold. Work that asked for no hold has none, unless
 * another key of its tenant held it since.
 */
export const wasGivenUp = async (
  { accounts, store }: HoldDeps,
  { tenant_id, operation_id, hold_id }: HeldWork,
): Promise<boolean> => {
  const { operations } = await accounts.stateOf(tenant_id, 0);
  const hold = operations.get(operation_id);
  if (hold !== undefined) return hold === RELEASED;
  if (hold_id === null) return true;
  for await (const recorded of store.read(accountStream(tenant_id), { direction: 'backwards' })) {
    const { type, data } = accountCodec.decode(recorded);
    if (type === 'CreditsBurned' && data.operation_id === operation_id) return false;
    if (type === 'CreditsHeld' && data.operation_id === operation_id) return true;
  }
  return false;
};

/** A hold as it was placed, open or not; undefined: the account's stream has none of this ID. */
export const heldBefore = async (
  { store }: Pick<HoldDeps, 'store'>,
  { tenant_id, hold_id }: { readonly tenant_id: string; readonly hold_id: string },
): Promise<Hold | undefined> => {
  for await (const recorded of store.read(accountStream(tenant_id), { direction: 'backwards' })) {
    const { type, data } = accountCodec.decode(recorded);
    if (type === 'CreditsHeld' && data.hold_id === hold_id) return data;
  }
  return undefined;
};

/** How the hold of one operation is closed by a burn. */
interface Settling {
  readonly operation_id: string;
  readonly burn: Omit<SettleHold['data'], 'hold_id'>;
  /** A new command. */
  readonly meta: () => CommandMeta;
}

const settle = async (
  { accounts }: HoldDeps,
  { burn, meta }: Settling,
  hold_id: string,
): Promise<Settled | HoldNotOpen | WorkProblem> => {
  const outcome = await accounts.execute({ type: 'SettleHold', data: { ...burn, hold_id }, meta: meta() });
  if (outcome.kind === 'rejected') {
    const { rejection } = outcome;
    if (rejection.code === 'hold_not_open') return { kind: 'hold_not_open', isBilled: false };
    throw new Error(`a settlement was rejected with ${rejection.code}`);
  }
  if (outcome.kind !== 'done') return notNow(outcome.kind);
  const { events, state, position } = outcome;
  const burned = events.find((event) => event.type === 'CreditsBurned')?.data;
  // A repeat of a settlement that had taken effect: its burn is in the log.
  if (burned === undefined) return { kind: 'hold_not_open', isBilled: true };
  return { kind: 'settled', burn: burned, balance: state.balance, position };
};

/**
 * The burn of an earlier settlement. The account forgets finished holds, so this reads its stream backwards, to
 * where the operation's hold was placed; only a retry after a crash needs it.
 */
const settledBefore = async (
  { store }: HoldDeps,
  { operation_id, burn: { tenant_id } }: Settling,
  hold_id: string,
): Promise<Settled | undefined> => {
  for await (const recorded of store.read(accountStream(tenant_id), { direction: 'backwards' })) {
    const { type, data } = accountCodec.decode(recorded);
    if (type === 'CreditsBurned' && data.operation_id === operation_id)
      return { kind: 'settled', burn: data, balance: undefined, position: undefined };
    if (type === 'CreditsHeld' && data.hold_id === hold_id) return undefined;
  }
  return undefined;
};

/**
 * Settles an operation once, however often it is asked for. `hold_not_open`: it was not billed, and its hold is gone:
 * the work was given up.
 */
export const settleOnce = async (
  deps: HoldDeps,
  settling: Settling,
  hold_id: string,
): Promise<Settled | HoldNotOpen | WorkProblem> => {
  const first = await settle(deps, settling, hold_id);
  if (first.kind !== 'hold_not_open') return first;
  return (await settledBefore(deps, settling, hold_id)) ?? first;
};

/** A hold that a read model lists as open. */
interface OpenHold {
  readonly tenant_id: string;
  readonly hold_id: string;
}

export interface HoldSweeperDeps {
  readonly writer: AccountWriter;
  readonly payments: Pick<Payments, 'finishClaim'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Open holds whose `expires_at` is before `now`, oldest first. May be late; the account decides. */
  readonly openHoldsBefore: (now: string, limit: number) => Promise<readonly OpenHold[]>;
  /** Payment streams claimed before `before` whose claim has neither an effect nor a release. */
  readonly openClaimsBefore: (before: string, limit: number) => Promise<readonly string[]>;
  /** Credits that left a tenant before `before` and did not arrive at the other. */
  readonly openTransfersBefore: (before: string, limit: number) => Promise<readonly Leaving[]>;
  /** Books rates of sales that had none. Left out: nothing is sold here without one. */
  readonly priceSales?: () => Promise<number>;
  readonly everyMs?: number;
  readonly onSweep?: (report: SweepReport) => void;
  readonly onError?: (error: unknown) => void;
}

interface SweepReport {
  readonly released: number;
  readonly finished: number;
  /** Transfers that a crash had left between two tenants. */
  readonly arrived: number;
  /** Sales that got a rate. */
  readonly priced: number;
  /** Holds, claims and transfers that could not be settled now; the next sweep tries again. */
  readonly left: number;
}

/** Sweeps every minute. */
export type HoldSweeper = Sweeper<SweepReport>;

const HOLDS_PAGE = 500;
/** A younger claim may still be in its own request's hands. */
const CLAIM_AGE_MS = 60_000;

/**
 * Releases holds that ran out, settles claims and transfers that a crash left open, and books rates of sales that had
 * none. Runs safely beside others.
 */
export const holdSweeper = (deps: HoldSweeperDeps): HoldSweeper =>
  sweeperOf(() => sweepHolds(deps), { everyMs: deps.everyMs ?? 60_000, onError: deps.onError });

const sweepHolds = async (deps: HoldSweeperDeps): Promise<SweepReport> => {
  const now = deps.clock.now();
  const holds = await deps.openHoldsBefore(now, HOLDS_PAGE);
  const released = await settleEach(deps, holds, (hold) => releaseExpired(deps, hold, now));
  const before = laterBy(now, -CLAIM_AGE_MS);
  const claims = await deps.openClaimsBefore(before, HOLDS_PAGE);
  const finished = await settleEach(deps, claims, (stream) => finishClaim(deps, stream));
  const transfers = await deps.openTransfersBefore(before, HOLDS_PAGE);
  const arrive = finishTransfer({ accounts: deps.writer, clock: deps.clock });
  const arrived = await settleEach(deps, transfers, arrive);
  const left = holds.length + claims.length + transfers.length - released - finished - arrived;
  const priced = (await deps.priceSales?.()) ?? 0;
  const report = { released, finished, arrived, priced, left };
  deps.onSweep?.(report);
  return report;
};

/** Counts what was settled. One that fails does not keep the others from being tried. */
const settleEach = async <Item>(
  { onError }: HoldSweeperDeps,
  items: readonly Item[],
  settle: (item: Item) => Promise<boolean>,
): Promise<number> => {
  let settled = 0;
  for (const item of items) {
    try {
      if (await settle(item)) settled += 1;
    } catch (error) {
      onError?.(error);
    }
  }
  return settled;
};

/**
 * A hold is released once, because the account releases only open holds. The command ID names the instant of
 * the list: a retry may hold the same again, and that has to be released again when it expires.
 */
const releaseExpired = async (
  { writer: accounts, clock }: HoldSweeperDeps,
  { tenant_id, hold_id }: OpenHold,
  listedAt: string,
): Promise<boolean> => {
  const command_id = deterministicEventId(accountStream(tenant_id), `expire ${hold_id} ${listedAt}`, 0);
  const meta = { now: clock.now(), actor: SYSTEM, correlation_id: `sweep-${hold_id}`, command_id };
  return (await releaseHold({ accounts }, { tenant_id, hold_id, reason: 'expired' }, meta)) !== 'not_now';
};

const finishClaim = async ({ payments, clock }: HoldSweeperDeps, stream: string): Promise<boolean> => {
  const outcome = await payments.finishClaim(stream, clock.now());
  return outcome === undefined || outcome.kind === 'done' || outcome.kind === 'rejected';
};
