import { Map as ImmutableMap } from 'immutable';
import type { AccountEvent } from '../../../domain/account/messages.ts';
import { balanceAfter, isConsistent, remembersLast } from '../../../domain/account/account.ts';
import { NEW_ACCOUNT, type AccountState } from '../../../domain/account/state.ts';
import type { Json, JsonObject } from '../../../domain/kernel/json.ts';
import type { SnapshotStore } from '../../../domain/ports/log.ts';
import type { Proof, SnapshotRules } from './trustedSnapshot.ts';

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
