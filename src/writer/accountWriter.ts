import { Map as ImmutableMap } from 'immutable';
import {
  type AccountCommand,
  type AccountEvent,
  accountEvent,
  accountStream,
} from '../../domain/account/messages.ts';
import {
  account,
  type AccountKind,
  balanceAfter,
  isConsistent,
  remembersLast,
} from '../../domain/account/account.ts';
import { budgetRejection } from '../../domain/account/budgets.ts';
import { type AccountState, NEW_ACCOUNT } from '../../domain/account/state.ts';
import type { Json, JsonObject } from '../../domain/kernel/json.ts';
import type { HistoryPage } from '../../domain/kernel/history.ts';
import { type EventStore, LogUnavailable, type SnapshotStore } from '../../domain/ports/log.ts';
import { type Answered, askWithEarlier } from './earlier.ts';
import type { Proof, SnapshotRules } from './streamFold.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { type Outcome, type WriterOptions, writerRules } from './decideBatch.ts';
import { type Forgotten, streamWriter, type WriterLimits } from './streamWriter.ts';

/** Raise it when `evolve` or the state's shape changes: snapshots of other versions are ignored. */
const ACCOUNT_REDUCER_VERSION = 11;

/** Snapshots of accounts, in a store. */
export const accountSnapshots = (
  store: SnapshotStore,
  everyEvents = 500,
): SnapshotRules<AccountState, AccountEvent> => ({
  store,
  reducerVersion: ACCOUNT_REDUCER_VERSION,
  toJson: accountToJson,
  pagesOf: ({ history }) => history.pages,
  fromJson: accountFromJson,
  proof: accountProof,
  everyEvents,
  sizeOf: ({ holds, budgets, history }) =>
    holds.size + HOLDS_A_BUDGET * budgets.length + history.latestCount / NAMES_A_HOLD,
  // A hold has 300 bytes at least: more of them never fit into one event of a log.
  sizeMax: 3_000,
});

/** An entry of the history has this share of the bytes of a hold. */
const NAMES_A_HOLD = 8;

/** A budget has the bytes of so many holds: its texts, the refusals of its period, and what it counted of late. */
const HOLDS_A_BUDGET = 12;

const accountProof = (state: AccountState, event: AccountEvent, last: bigint | undefined): Proof => {
  if (last !== undefined && !(isConsistent(state) && remembersLast(state, event, last))) return 'contradicts';
  const balance = balanceAfter(event);
  if (balance === undefined) return 'silent';
  return balance === state.balance ? 'agrees' : 'contradicts';
};

/** Members that the log gives again where a decision asks for them: no snapshot has them. */
const READ_AGAIN = [
  'sales',
  'saleKeys',
  'refunds',
  'reversals',
  'sent',
  'received',
  'adjustments',
  'charges',
  'recalled',
] as const;

/** The state as JSON, but what is read again and the pages; a map as its list of pairs, in the order of its keys. */
export const accountToJson = (state: AccountState): JsonObject => {
  const { events, latest, latestCount } = state.history;
  const again = new Set<string>([...READ_AGAIN, 'history']);
  const members = Object.entries(state).filter(([name]) => !again.has(name));
  return {
    ...Object.fromEntries(
      members.map(([name, value]: [string, unknown]) => [
        name,
        ImmutableMap.isMap(value) ? pairsOf(value as ImmutableMap<string, Json>) : (value as Json),
      ]),
    ),
    history: { events, latestCount, latest: pairsOf(latest) },
  };
};

const pairsOf = (map: ImmutableMap<string, Json>): Json =>
  [...map.entries()].sort(([a], [b]) => (a < b ? -1 : 1));

/** The inverse of `accountToJson`. */
export const accountFromJson = (json: JsonObject, pages: readonly HistoryPage[]): AccountState => {
  const { history, ...members } = json as JsonObject & { readonly history: JsonObject };
  const again = new Set<string>(READ_AGAIN);
  return {
    ...Object.fromEntries(
      Object.entries(NEW_ACCOUNT).map(([name, empty]: [string, unknown]) => {
        if (again.has(name)) return [name, empty];
        const value = members[name];
        return [name, ImmutableMap.isMap(empty) ? ImmutableMap(value as Iterable<[string, Json]>) : value];
      }),
    ),
    history: { ...history, latest: ImmutableMap(history['latest'] as Iterable<[string, Json]>), pages },
    // The state hash says that it is what accountToJson wrote for a state of this version.
  } as unknown as AccountState;
};

/** The one way to change an account, and to know it for sure. */
export interface AccountWriter {
  execute(command: AccountCommand): Promise<Outcome<AccountKind>>;
  /**
   * The account at the log's end, as this process knows it: read again if it is not cached, or if the
   * log has not confirmed it for `maxAgeMs` (0: always). Throws `AccountUnavailable`.
   */
  stateOf(tenantId: string, maxAgeMs?: number): Promise<AccountState>;
  /**
   * A question about the account as `stateOf` gives it, and the state that has the answer: what the account does not
   * keep is read from its stream. Throws `AccountUnavailable`.
   */
  ask<T>(
    tenantId: string,
    question: (state: AccountState) => T,
    maxAgeMs?: number,
  ): Promise<Answered<AccountState, T>>;
  /** Drops what is remembered of a log that was replaced. */
  forget(what: Forgotten): void;
  /** Finishes what is in flight. Commands that come later are `busy`. */
  close(): Promise<void>;
}

/** The log cannot be read now, or the account's queue is full. Try again. */
export class AccountUnavailable extends Error {
  override readonly name = 'AccountUnavailable';
  constructor(tenantId: string) {
    super(`account ${tenantId} cannot be read now`);
  }
}

interface AccountWriterDeps extends Omit<WriterOptions<AccountKind>, 'snapshots' | 'mayAppend' | 'stop'> {
  readonly store: EventStore;
  readonly snapshots?: SnapshotStore;
  readonly snapshotEveryEvents?: number;
  readonly limits?: Partial<WriterLimits>;
}

/** Reads and writes account events, whatever their version. */
export const accountCodec = eventCodec(accountEvent);

/** A refusal that the log has is told as any other. */
const withRefusal = (outcome: Outcome<AccountKind>): Outcome<AccountKind> => {
  if (outcome.kind !== 'done') return outcome;
  for (const { type, data } of outcome.events)
    if (type === 'BudgetReached')
      return { kind: 'rejected', rejection: budgetRejection(data), state: outcome.state };
  return outcome;
};

/** The accounts' writer in this process; others may write too, at the price of conflicts. */
export const accountWriter = ({
  store,
  snapshots: kept,
  snapshotEveryEvents,
  limits,
  ...options
}: AccountWriterDeps): AccountWriter => {
  const snapshots = kept && accountSnapshots(kept, snapshotEveryEvents);
  const rules = writerRules({ store, decider: account, codec: accountCodec }, { ...options, snapshots });
  const { execute, stateOf, forget, close } = streamWriter<AccountKind>(rules, accountStream, limits);
  const stateNow = async (tenantId: string, maxAgeMs?: number): Promise<AccountState> => {
    const state = await stateOf(tenantId, maxAgeMs);
    if (state === undefined) throw new AccountUnavailable(tenantId);
    return state;
  };
  return {
    execute: async (command) => withRefusal(await execute(command.data.tenant_id, command)),
    stateOf: stateNow,
    ask: async (tenantId, question, maxAgeMs) =>
      askAccount(store, { tenantId, state: await stateNow(tenantId, maxAgeMs) }, question),
    forget,
    close,
  };
};

/** As `ask` of an account's writer, of a state that was folded from this log. Throws `AccountUnavailable`. */
export const askAccount = async <T>(
  store: EventStore,
  { tenantId, state }: { readonly tenantId: string; readonly state: AccountState },
  question: (state: AccountState) => T,
): Promise<Answered<AccountState, T>> => {
  const rules = { ...account, codec: accountCodec };
  try {
    return await askWithEarlier<AccountKind, T>(
      { rules, store, stream: accountStream(tenantId) },
      state,
      question,
    );
  } catch (error) {
    if (error instanceof LogUnavailable) throw new AccountUnavailable(tenantId);
    throw error;
  }
};
