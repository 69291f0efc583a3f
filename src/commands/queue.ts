import type { AccountEventOf, RatedOperation } from '../../domain/account/messages.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import {
  hasEnded,
  isAbandoned,
  type QueuedKind,
  type QueuedState,
  type WorkCommand,
  workIdFor,
  type WorkTypes,
} from '../../domain/leased.ts';
import {
  type AcceptedOperation,
  operation,
  operationEvent,
  operationIdFor,
  type OperationKind,
  operationStream,
  workIdOfOperation,
} from '../../domain/operation.ts';
import {
  usageEnd,
  type UsageState,
  operationOfEndpoint,
  WORKS,
  type WorkEndpoint,
} from '../../domain/workEvents.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import { type HoldDeps, releaseHold } from './holds.ts';
import { erasedWork, reused, workProblem, type WorkProblem } from './workProblem.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import type { Outcome } from '../writer/decideBatch.ts';

export interface CloseDeps extends HoldDeps {
  readonly clock: Clock;
  /** Notes where a tenant's reads must have got to, to see this. */
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/** The name of a piece of work in its bill, and by its stream. */
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
  /** Forgets what it was to do, as far as nobody needs it after its end. */
  readonly drop: (name: W['identity'], state: QueuedState<W>) => Promise<void>;
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
 * Closes the money of ended work, once, however often and by any process it is called: a success is billed, and every
 * remaining hold of the work is released. Nothing else in the service moves money of queued work. False: it has to be
 * called again, or the work has not ended.
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
  await money.drop(name, state);
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

/** A stream's record of the work that an identity may name. */
interface NamedState {
  /** When it was accepted; null for work that never was. */
  readonly since: string | null;
  /** Its identity is used up: nothing can be accepted under it any more. */
  readonly isClosed: boolean;
}

interface Naming<State> {
  /** The ID of the n-th use of the identity, from 0. */
  readonly idOf: (generation: number) => string;
  readonly stateOf: (id: string) => Promise<State>;
  readonly read: (state: State) => NamedState;
  /** How long the identity names the same work, ms. */
  readonly keptMs: number;
  readonly now: string;
}

/**
 * The work that a caller's identity names: what was accepted lately, or a free ID. An identity that is used again
 * later, or whose first request was given up, has a further generation. The number of generations is doubled, then
 * halved, so a key that was used a thousand times costs twenty reads.
 */
export const namedWork = async <State>({
  idOf,
  stateOf,
  read,
  keptMs,
  now,
}: Naming<State>): Promise<{ readonly id: string; readonly state: State }> => {
  const at = async (generation: number) => {
    const id = idOf(generation);
    const state = await stateOf(id);
    const { since, isClosed } = read(state);
    const isPast = since !== null && Date.parse(now) - Date.parse(since) >= keptMs;
    return { id, state, isUsedUp: isClosed || isPast };
  };
  let found = await at(0);
  if (!found.isUsedUp) return found;
  let [used, free] = [0, 1];
  for (found = await at(free); found.isUsedUp; found = await at(free)) [used, free] = [free, free * 2];
  while (free - used > 1) {
    const middle = Math.floor((used + free) / 2);
    const one = await at(middle);
    if (one.isUsedUp) used = middle;
    else [free, found] = [middle, one];
  }
  return found;
};

/** How long an Idempotency-Key names its work, ms: as long as a replay is promised. */
export const KEPT_MS = 24 * 3_600_000;

/** What the streams of operations have in common. */
export const operationRules = {
  decider: operation,
  codec: eventCodec(operationEvent),
  streamOf: operationStream,
};

/** A kind of work that a key can name, by its name in URLs. */
const kindOf = (endpoint: WorkEndpoint) => {
  const kind = operationOfEndpoint(endpoint);
  return { kind, idPrefix: WORKS[kind].prefix };
};

/** Which work, by the name of its stream. */
interface UsageName {
  readonly operation: RatedOperation;
  readonly operation_id: string;
}

export interface KeyedDeps {
  readonly store: EventStore;
  readonly usage: {
    readonly stateOf: (work: UsageName) => Promise<UsageState>;
    readonly isErased: (documentId: string) => Promise<boolean>;
  };
  readonly clock: Pick<Clock, 'now'>;
}

interface Key {
  readonly tenant_id: string;
  readonly idempotency_key: string;
}

/** The work that a key names, as the log has it: an operation, work whose caller waited, or nothing yet. */
export interface NamedWork {
  /** Of the operation that it is, or would be. */
  readonly operation_id: string;
  /** null: it is no operation. */
  readonly accepted: AcceptedOperation | null;
  /** Of the work that it is. */
  readonly work_id: string;
  readonly usage: UsageState;
}

/**
 * The work that a key names, by whichever route it was asked for and whether its caller waited: the IDs of work and
 * operation have one suffix, so the account refuses a second hold for either. A day after its end, after it failed
 * under a caller who waited, or after its request was given up, the key names the next generation.
 */
export const workNamedBy = async (deps: KeyedDeps, key: Key, endpoint: WorkEndpoint): Promise<NamedWork> => {
  const { kind, idPrefix } = kindOf(endpoint);
  const operations = streamsOf<OperationKind>(operationRules, deps.store);
  const [former, found] = await Promise.all([
    formerWork(deps, key, endpoint),
    namedWork({
      idOf: (generation) => operationIdFor({ ...key, endpoint, generation }),
      stateOf: async (id) => {
        const work = { operation: kind, operation_id: workIdOfOperation(id, idPrefix) };
        // In this order: an operation that fails in between is known as accepted, and its key is not free.
        const usage = await deps.usage.stateOf(work);
        const queued = await operations.stateOf(id);
        return { queued, usage };
      },
      read: ({ queued, usage }) => ({
        since: queued.accepted?.accepted_at ?? usageEnd(usage)?.at ?? null,
        isClosed: isAbandoned(queued) || (queued.accepted === null && usage.end?.happened === 'Failed'),
      }),
      keptMs: KEPT_MS,
      now: deps.clock.now(),
    }),
  ]);
  const { id: operation_id, state } = found;
  const { accepted } = state.queued;
  const work_id = workIdOfOperation(operation_id, idPrefix);
  return { operation_id, accepted, work_id, usage: state.usage, ...former };
};

/** Work whose caller waited, by an ID of its own: earlier releases gave it one. undefined: the key names none. */
const formerWork = async (
  { usage, clock }: KeyedDeps,
  key: Key,
  endpoint: WorkEndpoint,
): Promise<Pick<NamedWork, 'work_id' | 'usage'> | undefined> => {
  const { kind, idPrefix } = kindOf(endpoint);
  const idOf = (generation: number) => workIdFor(idPrefix, { ...key, kind, generation });
  const stateOf = (operation_id: string) => usage.stateOf({ operation: kind, operation_id });
  const first = await stateOf(idOf(0));
  if (first.requested === null) return undefined;
  const { id: work_id, state } = await namedWork({
    idOf,
    stateOf,
    keptMs: KEPT_MS,
    now: clock.now(),
    read: (one) => ({ since: usageEnd(one)?.at ?? null, isClosed: one.end?.happened === 'Failed' }),
  });
  return state.requested === null ? undefined : { work_id, usage: state };
};

/**
 * Why the work that a key names is not answered to a request; undefined: it is, or there is none. Only the log says
 * so: kept answers and stored results may be lost or erased.
 */
export const refusalOf = async (
  { usage }: Pick<KeyedDeps, 'usage'>,
  { accepted, usage: { requested } }: Pick<NamedWork, 'accepted' | 'usage'>,
  fingerprint: string,
): Promise<WorkProblem | undefined> => {
  const known = accepted ?? requested;
  if (known === null) return undefined;
  if (known.fingerprint !== undefined && known.fingerprint !== fingerprint) return reused();
  return (await usage.isErased(known.document_id)) ? erasedWork() : undefined;
};

/** The streams of one kind of queued work: its queue. */
export interface QueueStreams<W extends WorkTypes> {
  readonly handle: (name: W['identity'], command: WorkCommand<W>) => Promise<Outcome<QueuedKind<W>>>;
  /** From the log; `accepted` is null for work that never was in the queue. */
  readonly stateOf: (id: string) => Promise<QueuedState<W>>;
}
