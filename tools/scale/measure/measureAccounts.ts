import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteEventLog, type SqliteEventLog } from '../../../adapters/sqlite/eventLog.ts';
import { type AccountCommand, accountStream } from '../../../domain/account/messages.ts';
import { account } from '../../../domain/account/account.ts';
import type { AccountState } from '../../../domain/account/state.ts';
import { CHAIN_START } from '../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import { SNAPSHOT_BYTES_MAX, type Snapshot, type SnapshotStore } from '../../../domain/ports/log.ts';
import { accountCodec, accountSnapshots, accountWriter } from '../../../src/writer/accountWriter.ts';
import { coldLoad, snapshotOf } from '../../../src/writer/streamFold.ts';
import { encodeEvents } from '../../../src/writer/append.ts';
import { authenticator } from '../../../src/server/keys.ts';
import { START_CREDITS } from '../../bench/contestant.ts';
import { adjustment, charge, hold, sale, settle } from '../../../test/support/money/accountCommands.ts';
import type { Coefficients, ColdLoad } from '../simulation/coefficients.ts';
import { heldBytes, round, threadCpuOf } from './probes.ts';

const TENANT = 't0';

const foldAll = (state: AccountState, commands: Iterable<AccountCommand>): AccountState => {
  for (const command of commands) {
    const decision = account.decide(state, command);
    if (decision.kind === 'rejected') throw new Error(`${command.type}: ${decision.rejection.code}`);
    state = decision.events.reduce(account.evolve, state);
  }
  return state;
};

const COUNT = 5_000;

/** Bytes that each of so many commands leaves in an account's state. */
const growthOf = (of: (n: number) => AccountCommand): number => {
  const funded = foldAll(account.initialState, [adjustment(TENANT, START_CREDITS)]);
  const before = heldBytes();
  const grown = foldAll(funded, Array.from({ length: COUNT }, (_, n) => n).map(of));
  const bytes = (heldBytes() - before) / COUNT;
  // Kept alive until it was counted.
  if (!grown.opened) throw new Error('the account was not opened');
  return Math.round(bytes);
};

/** An account that is in memory with little in it: its mailbox and its state. */
const warmAccount = async (base: string): Promise<number> => {
  const folder = mkdtempSync(join(base, 'quire-scale-'));
  const log = openSqliteEventLog({ path: join(folder, 'events.db') });
  const writer = accountWriter({ store: log });
  const touch = (n: number) => writer.execute(adjustment(`tenant-${n}`, START_CREDITS));
  await Promise.all(Array.from({ length: 500 }, (_, n) => touch(n)));
  const before = heldBytes();
  await Promise.all(Array.from({ length: COUNT }, (_, n) => touch(n + 500)));
  const bytes = (heldBytes() - before) / COUNT;
  await writer.close();
  await log.close();
  rmSync(folder, { recursive: true, force: true });
  return Math.round(bytes);
};

const cachedKey = async (): Promise<number> => {
  const record = (hash: string) => ({ key_id: `key_${hash.slice(0, 20)}`, tenant_id: `tenant-${hash}` });
  const keys = authenticator({
    lookup: (hash) =>
      Promise.resolve({ ...record(hash), role: 'tenant', expires_at: null, revoked_at: null }),
    isWellFormed: () => true,
    adminKey: undefined,
    nowMs: () => 0,
  });
  const before = heldBytes();
  for (let n = 0; n < COUNT; n += 1) await keys.authenticate(`a-key-of-usual-length-${n}`);
  const bytes = (heldBytes() - before) / COUNT;
  if (keys.flush() !== COUNT) throw new Error('keys were not cached');
  return Math.round(bytes);
};

export const measureMemory = async (base: string): Promise<Coefficients['memory']> => ({
  warm_account: await warmAccount(base),
  open_hold: growthOf((n) => hold(TENANT, `hold-${n}`, 1)),
  keyed_charge: growthOf((n) => charge(TENANT, 1, `charge-${n}`)),
  sale: growthOf((n) => sale(TENANT, 100, `sale-${n}`)),
  cached_key: await cachedKey(),
});

const KINDS: Readonly<Record<ColdLoad['kind'], (n: number) => readonly AccountCommand[]>> = {
  'hold and settle': (n) => [hold(TENANT, `hold-${n}`, 1), settle(TENANT, `hold-${n}`, 1)],
  'keyed charge': (n) => [charge(TENANT, 1, `charge-${n}`)],
};

const CHUNK = 200;

/** Writes an account of about so many events, in appends of 200. */
const writeAccount = async (log: SqliteEventLog, kind: ColdLoad['kind'], size: number): Promise<void> => {
  const stream = accountStream(TENANT);
  const encoding = { stream, tenantId: TENANT, codec: accountCodec };
  let [state, link, revision, turn] = [account.initialState, CHAIN_START, -1, 0];
  while (revision + 1 < size) {
    const commands = revision < 0 ? [adjustment(TENANT, START_CREDITS)] : [];
    while (commands.length < CHUNK) commands.push(...(KINDS[kind](turn++) as typeof commands));
    const events = commands.flatMap((command) => {
      const decision = account.decide(state, command);
      if (decision.kind === 'rejected') throw new Error(decision.rejection.code);
      const chained = encodeEvents(encoding, { events: decision.events, meta: command.meta }, link);
      state = chained.decoded.reduce(account.evolve, state);
      ({ link } = chained);
      return chained.events;
    });
    const result = await log.append(stream, revision < 0 ? 'no_stream' : BigInt(revision), events);
    if (result.kind !== 'appended') throw new Error(result.kind);
    revision += events.length;
  }
};

/** Keeps one snapshot as a log does: as text of a bounded size. */
const textSnapshots = (): SnapshotStore & { readonly bytes: () => number } => {
  let kept: { readonly snapshot: Snapshot; readonly text: string } | undefined;
  return {
    load: () => Promise.resolve(kept && { ...kept.snapshot, state: JSON.parse(kept.text) as JsonObject }),
    save: (snapshot) => {
      const text = JSON.stringify(snapshot.state);
      if (text.length > SNAPSHOT_BYTES_MAX) return Promise.resolve('too_large');
      kept = { snapshot, text };
      return Promise.resolve('saved');
    },
    bytes: () => kept?.text.length ?? 0,
  };
};

const RULES = { initialState: account.initialState, evolve: account.evolve, codec: accountCodec };

/** Loads an account of that length from the log, and from a snapshot that is as old as they may get. */
export const measureColdLoad = async (
  base: string,
  kind: ColdLoad['kind'],
  size: number,
): Promise<ColdLoad> => {
  const folder = mkdtempSync(join(base, 'quire-scale-'));
  const log = openSqliteEventLog({ path: join(folder, 'events.db') });
  await writeAccount(log, kind, size);
  const source = { store: log, stream: accountStream(TENANT), rules: RULES };
  await coldLoad({ ...source, stream: 'account-nobody' }, undefined);
  const fromLog = await threadCpuOf(() => coldLoad(source, undefined));
  const store = textSnapshots();
  const rules = accountSnapshots(store);
  const { folded } = fromLog.value;
  const snapshot = snapshotOf(source.stream, folded, rules);
  const isSmall = rules.sizeOf(folded.state) <= rules.sizeMax && snapshot !== undefined;
  const isSaved = isSmall && (await store.save(snapshot)) === 'saved';
  const fromSnapshot = isSaved ? await threadCpuOf(() => coldLoad(source, rules)) : undefined;
  await log.close();
  rmSync(folder, { recursive: true, force: true });
  return {
    events: size,
    kind,
    from_log_ms: round(fromLog.ms),
    from_snapshot_ms: fromSnapshot === undefined ? null : round(fromSnapshot.ms),
    snapshot_bytes: fromSnapshot === undefined ? null : store.bytes(),
  };
};

/** Asking the log whether there is anything new after what is known: what each conflict costs at least. */
export const measureReadForward = async (base: string): Promise<number> => {
  const folder = mkdtempSync(join(base, 'quire-scale-'));
  const log = openSqliteEventLog({ path: join(folder, 'events.db') });
  const writer = accountWriter({ store: log });
  await writer.execute(adjustment(TENANT, START_CREDITS));
  const TURNS = 2_000;
  const { ms } = await threadCpuOf(async () => {
    for (let n = 0; n < TURNS; n += 1) await writer.stateOf(TENANT, 0);
  });
  await writer.close();
  await log.close();
  rmSync(folder, { recursive: true, force: true });
  return round(ms / TURNS);
};
