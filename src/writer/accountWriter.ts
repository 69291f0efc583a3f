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
import { type AccountState, NEW_ACCOUNT } from '../../domain/account/state.ts';
import type { Json, JsonObject } from '../../domain/kernel/json.ts';
import type { EventStore, SnapshotStore } from '../../domain/ports/log.ts';
import type { Proof, SnapshotRules } from './streamFold.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { type Outcome, type WriterOptions, writerRules } from './decideBatch.ts';
import { type Forgotten, streamWriter, type WriterLimits } from './streamWriter.ts';

/** Raise it when `evolve` or the state's shape changes: snapshots of other versions are ignored. */
const ACCOUNT_REDUCER_VERSION = 3;

/** Snapshots of accounts, in a store. */
export const accountSnapshots = (
  store: SnapshotStore,
  everyEvents = 500,
): SnapshotRules<AccountState, AccountEvent> => ({
  store,
  reducerVersion: ACCOUNT_REDUCER_VERSION,
  toJson: accountToJson,
  fromJson: accountFromJson,
  proof: accountProof,
  everyEvents,
  sizeOf: ({ sales, refunds, adjustments, holds, charges }) =>
    sales.size + refunds.size + adjustments.size + holds.size + charges.size,
  // An entry has 300 bytes at least: more of them never fit into one event of a log.
  sizeMax: 3_000,
});

const accountProof = (state: AccountState, event: AccountEvent, isLast: boolean): Proof => {
  if (isLast && !(isConsistent(state) && remembersLast(state, event))) return 'contradicts';
  const balance = balanceAfter(event);
  if (balance === undefined) return 'silent';
  return balance === state.balance ? 'agrees' : 'contradicts';
};

/** The state as JSON; a map as its list of pairs, in the order of its keys. */
export const accountToJson = (state: AccountState): JsonObject =>
  Object.fromEntries(
    Object.entries(state).map(([name, value]: [string, unknown]) => [
      name,
      ImmutableMap.isMap(value) ? pairsOf(value as ImmutableMap<string, Json>) : (value as Json),
    ]),
  );

const pairsOf = (map: ImmutableMap<string, Json>): Json =>
  [...map.entries()].sort(([a], [b]) => (a < b ? -1 : 1));

/** The inverse of `accountToJson`. */
export const accountFromJson = (json: JsonObject): AccountState =>
  Object.fromEntries(
    Object.entries(NEW_ACCOUNT).map(([name, empty]: [string, unknown]) => [
      name,
      ImmutableMap.isMap(empty) ? ImmutableMap(json[name] as Iterable<[string, Json]>) : json[name],
    ]),
    // The state hash says that it is what accountToJson wrote for a state of this version.
  ) as unknown as AccountState;

/** The one way to change an account, and to know it for sure. */
export interface AccountWriter {
  execute(command: AccountCommand): Promise<Outcome<AccountKind>>;
  /**
   * The account at the log's end, as this process knows it: read again if it is not cached, or if the
   * log has not confirmed it for `maxAgeMs` (0: always). Throws `AccountUnavailable`.
   */
  stateOf(tenantId: string, maxAgeMs?: number): Promise<AccountState>;
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
  return {
    execute: (command) => execute(command.data.tenant_id, command),
    stateOf: async (tenantId, maxAgeMs) => {
      const state = await stateOf(tenantId, maxAgeMs);
      if (state === undefined) throw new AccountUnavailable(tenantId);
      return state;
    },
    forget,
    close,
  };
};
