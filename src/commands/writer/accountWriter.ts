import type { AccountCommand } from '../../../domain/account/commands.ts';
import { account, type AccountKind } from '../../../domain/account/decider.ts';
import { accountEvent } from '../../../domain/account/events.ts';
import type { AccountState } from '../../../domain/account/state.ts';
import { accountStream } from '../../../domain/account/stream.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/eventStore.ts';
import type { SnapshotStore } from '../../../domain/ports/snapshotStore.ts';
import { accountSnapshots } from './accountSnapshot.ts';
import type { Outcome } from './outcome.ts';
import { streamWriter, type Forgotten, type WriterLimits } from './streamWriter.ts';
import {
  ATTEMPTS_MAX,
  BATCH_MAX,
  DEFAULT_CONFLICT_PACING,
  DEFAULT_LIMITS,
  DEFAULT_PERSISTENCE,
} from './writerDefaults.ts';
import type { WriterHooks, WriterRules } from './writerRules.ts';

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

export interface AccountWriterDeps {
  readonly store: EventStore;
  readonly snapshots?: SnapshotStore;
  readonly snapshotEveryEvents?: number;
  readonly limits?: Partial<WriterLimits>;
  readonly hooks?: WriterHooks;
  /** How long one append may be silent before it is sent again. */
  readonly appendTimeoutMs?: number;
  readonly batchMax?: number;
  readonly attemptsMax?: number;
  /** Jitter; 0 ≤ x < 1. */
  readonly random?: () => number;
}

/** Reads and writes account events, whatever their version. */
export const accountCodec = eventCodec(accountEvent);

type AccountRules = WriterRules<AccountKind>;

/** The accounts' writer in this process; others may write too, at the price of conflicts. */
export const accountWriter = (deps: AccountWriterDeps): AccountWriter => {
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const writer = streamWriter(accountRules(deps), limits, accountStream);
  return {
    execute: (command) => writer.execute(command.data.tenant_id, command),
    stateOf: async (tenantId, maxAgeMs) => {
      const state = await writer.stateOf(tenantId, maxAgeMs);
      if (state === undefined) throw new AccountUnavailable(tenantId);
      return state;
    },
    forget: (what) => writer.forget(what),
    close: () => writer.close(),
  };
};

const accountRules = (deps: AccountWriterDeps): AccountRules => {
  const { store, snapshots, hooks = {}, random = Math.random } = deps;
  const { appendTimeoutMs = DEFAULT_PERSISTENCE.appendTimeoutMs } = deps;
  return {
    store,
    decider: account,
    fold: { initialState: account.initialState, evolve: account.evolve, codec: accountCodec },
    snapshots: snapshots === undefined ? undefined : accountSnapshots(snapshots, deps.snapshotEveryEvents),
    persistence: { ...DEFAULT_PERSISTENCE, appendTimeoutMs, random, onUnknown: hooks.onUnknown },
    conflictPacing: { ...DEFAULT_CONFLICT_PACING, random },
    hooks,
    attemptsMax: deps.attemptsMax ?? ATTEMPTS_MAX,
    batchMax: deps.batchMax ?? BATCH_MAX,
  };
};
