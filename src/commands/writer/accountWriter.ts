import { type AccountCommand, accountEvent, accountStream } from '../../../domain/account/messages.ts';
import { account, type AccountKind } from '../../../domain/account/account.ts';
import type { AccountState } from '../../../domain/account/state.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore, SnapshotStore } from '../../../domain/ports/log.ts';
import { accountSnapshots } from './accountSnapshot.ts';
import type { Outcome } from './outcome.ts';
import { streamWriter, type Forgotten, type WriterLimits } from './streamWriter.ts';
import { writerRules, type WriterOptions } from './writerRules.ts';

/** The one way to change an account, and to know it for sure. */
export interface AccountWriter {
  execute(command: AccountCommand): Promise<Outcome<AccountKind>>;
  /**
   * The account at the log's end, as this process knows it: read anew when it is not cached, or when the
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
