import type { AccountEventOf } from '../../../domain/account/messages.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import { hasEnded, isAbandoned, type QueuedState, type WorkTypes } from '../../../domain/leased.ts';
import { releaseHold, type HoldDeps } from '../work/holds.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import type { QueueStreams } from './queueStreams.ts';

export interface CloseDeps extends HoldDeps {
  readonly clock: Clock;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/** What a piece of work is called where it is billed, and by its stream. */
export interface WorkMoney<W extends WorkTypes> {
  readonly streams: QueueStreams<W>;
  /** Whether a hold of this operation is the work's. */
  readonly isHeldFor: (name: W['identity'], operationId: string) => boolean;
  /** Of its stream; also what its commands are correlated by. */
  readonly idOf: (name: W['identity']) => string;
  /**
   * Bills a success, once, however often it is asked for. False: it could not be done now. `holds`: those of the work
   * that are open.
   */
  readonly bill: (
    accepted: W['accepted'],
    success: W['success'],
    holds: readonly OpenHold[],
  ) => Promise<boolean>;
  /** Tells how work ended that is not billed; before its hold is given back, so that nothing is half told. */
  readonly unbilled: (state: QueuedState<W> & { readonly accepted: W['accepted'] }) => Promise<void>;
  /** Forgets what it was to do. */
  readonly drop: (name: W['identity']) => Promise<void>;
}

export type OpenHold = AccountEventOf<'CreditsHeld'>['data'];

/** The open holds of a piece of work, as the log has them. */
const holdsOf = async <W extends WorkTypes>(
  { accounts }: HoldDeps,
  { isHeldFor }: WorkMoney<W>,
  name: W['identity'],
): Promise<readonly OpenHold[]> => {
  const { holds } = await accounts.stateOf(name.tenant_id, 0);
  return [...holds.values()].filter(({ operation_id }) => isHeldFor(name, operation_id));
};

/**
 * Closes the money of work that ended, once, whoever does it and however often: a success is billed, and every hold
 * of the work that is left is given back. Nothing else in the service moves money of queued work. False: it has to be
 * asked for again, or the work has not ended.
 */
export const closeWork = async <W extends WorkTypes>(
  deps: CloseDeps,
  money: WorkMoney<W>,
  { name, state }: { readonly name: W['identity']; readonly state: QueuedState<W> },
): Promise<boolean> => {
  const { accepted, success, status } = state;
  if (!hasEnded(state)) return false;
  if (accepted !== null && success !== null) {
    if (!(await money.bill(accepted, success, await holdsOf(deps, money, name)))) return false;
  } else if (accepted !== null) await money.unbilled({ ...state, accepted });
  const reason = status === 'failed' ? 'failed' : 'cancelled';
  for (const { hold_id } of await holdsOf(deps, money, name)) {
    const meta = systemMeta(deps, money.idOf(name));
    const { tenant_id } = name;
    if ((await releaseHold(deps, { tenant_id, hold_id, reason }, meta)) === 'not_now') return false;
  }
  await money.drop(name);
  return true;
};

/**
 * Gives up work whose request could not put it in the queue: its stream is closed first, so that a request that is
 * late is refused; then what was held for it is given back. False: it is in the queue, or could not be closed now.
 */
export const abandonWork = async <W extends WorkTypes>(
  deps: CloseDeps,
  money: WorkMoney<W>,
  name: W['identity'],
): Promise<boolean> => {
  const meta = systemMeta(deps, money.idOf(name));
  const outcome = await money.streams.handle(name, { type: 'Abandon', data: name, meta });
  if (outcome.kind !== 'done' || !isAbandoned(outcome.state)) return false;
  return closeWork(deps, money, { name, state: outcome.state });
};

/** Cancels work and gives its hold back. `cancelled` is false for work that had ended already. */
export const cancelWork = async <W extends WorkTypes>(
  deps: CloseDeps,
  money: WorkMoney<W>,
  { name, meta }: { readonly name: W['identity']; readonly meta: CommandMeta },
): Promise<{ readonly kind: 'answered'; readonly cancelled: boolean } | WorkProblem> => {
  const outcome = await money.streams.handle(name, { type: 'Cancel', meta });
  if (outcome.kind === 'rejected') return { kind: 'answered', cancelled: false };
  if (outcome.kind !== 'done')
    return workProblem('busy', 'It could not be cancelled now. Send the request again in a moment.');
  if (outcome.position !== undefined) deps.wrote(name.tenant_id, outcome.position);
  // What cannot be closed now is closed by the reaper: the work is cancelled whatever happens here.
  await closeWork(deps, money, { name, state: outcome.state }).catch(() => false);
  return { kind: 'answered', cancelled: true };
};
