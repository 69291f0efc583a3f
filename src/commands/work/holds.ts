import type { HoldCredits, ReleaseHold, SettleHold } from '../../../domain/account/commands.ts';
import type { AccountEventOf } from '../../../domain/account/events.ts';
import { accountStream } from '../../../domain/account/stream.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import { accountCodec, type AccountWriter } from '../writer/accountWriter.ts';
import type { NotNow } from '../writer/outcome.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

/** The accounts whose credits are held, and their log. */
export interface HoldDeps {
  readonly accounts: Pick<AccountWriter, 'execute' | 'stateOf'>;
  readonly store: EventStore;
}

/** `free`: all pages are free ones of the tenant. */
export interface Held {
  readonly kind: 'held';
  readonly free: boolean;
}

/** The hold, or its operation, was settled or released before. */
export interface HoldNotOpen {
  readonly kind: 'hold_not_open';
}

/** The hold is open for other work, or at another price; or its operation has another one. */
export interface OtherHold {
  readonly kind: 'other_hold';
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

/** Sets credits aside, free pages first. The same hold again changes nothing. */
export const holdCredits = async (
  { accounts }: Pick<HoldDeps, 'accounts'>,
  data: HoldCredits['data'],
  meta: CommandMeta,
): Promise<Held | HoldNotOpen | OtherHold | WorkProblem> => {
  const outcome = await accounts.execute({ type: 'HoldCredits', data, meta });
  if (outcome.kind === 'done') {
    const held = outcome.events.find((event) => event.type === 'CreditsHeld')?.data;
    return { kind: 'held', free: held !== undefined && held.free_pages === held.pages };
  }
  if (outcome.kind !== 'rejected') return notNow(outcome.kind);
  const { rejection } = outcome;
  switch (rejection.code) {
    case 'plan_required':
      return planRequired(rejection.plan);
    case 'insufficient_credits':
      return tooLittle(rejection.required_credits, rejection.available_credits);
    case 'hold_not_open':
      return { kind: 'hold_not_open' };
    case 'idempotency_key_reused':
      return { kind: 'other_hold' };
    default:
      throw new Error(`a hold was rejected with ${rejection.code}`);
  }
};

/** Gives a hold back; one that is closed already stays so. False: it could not be done now, and it expires. */
export const releaseHold = async (
  { accounts }: Pick<HoldDeps, 'accounts'>,
  data: ReleaseHold['data'],
  meta: CommandMeta,
): Promise<boolean> => {
  const { kind } = await accounts.execute({ type: 'ReleaseHold', data, meta });
  return kind === 'done' || kind === 'rejected';
};

/** How the hold of one operation is closed by a burn. */
export interface Settling {
  readonly operation_id: string;
  readonly burn: Omit<SettleHold['data'], 'hold_id'>;
  /** A new command. */
  readonly meta: () => CommandMeta;
  /** The hold anew, under another ID, where it ran out. */
  readonly again: (hold_id: string) => Promise<HoldCredits['data'] | WorkProblem>;
}

const settle = async (
  { accounts }: HoldDeps,
  { burn, meta }: Settling,
  hold_id: string,
): Promise<Settled | HoldNotOpen | WorkProblem> => {
  const outcome = await accounts.execute({ type: 'SettleHold', data: { ...burn, hold_id }, meta: meta() });
  if (outcome.kind === 'rejected') {
    if (outcome.rejection.code === 'hold_not_open') return { kind: 'hold_not_open' };
    throw new Error(`a settlement was rejected with ${outcome.rejection.code}`);
  }
  if (outcome.kind !== 'done') return notNow(outcome.kind);
  const { events, state, position } = outcome;
  const burned = events.find((event) => event.type === 'CreditsBurned')?.data;
  // A repeat of a settlement that had taken effect: its burn is in the log.
  if (burned === undefined) return { kind: 'hold_not_open' };
  return { kind: 'settled', burn: burned, balance: state.balance, position };
};

/**
 * What an earlier settlement burned. The account forgets finished holds, so this reads its stream backwards, to
 * where the operation's first hold was placed; only a retry after a crash needs it.
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
 * Settles an operation once, whatever became of its hold: it may be open, settled by a request that never got
 * its answer, or released because it ran out. Then it is placed anew, under an ID that follows from the old
 * one, so that two retries at once share it, and only one of them can settle it.
 */
export const settleOnce = async (
  deps: HoldDeps,
  settling: Settling,
  hold_id: string,
): Promise<Settled | HoldNotOpen | OtherHold | WorkProblem> => {
  const first = await settle(deps, settling, hold_id);
  if (first.kind !== 'hold_not_open') return first;
  const before = await settledBefore(deps, settling, hold_id);
  if (before !== undefined) return before;
  const again = `${hold_id}_again`;
  const data = await settling.again(again);
  if ('code' in data) return data;
  const placed = await holdCredits(deps, data, settling.meta());
  if (placed.kind !== 'held') return placed;
  const since = await settledBefore(deps, settling, hold_id);
  if (since === undefined) return settle(deps, settling, again);
  const { tenant_id } = settling.burn;
  await releaseHold(deps, { tenant_id, hold_id: again, reason: 'cancelled' }, settling.meta());
  return since;
};
