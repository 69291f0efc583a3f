import { copyFileSync, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { openSqliteEventLog, type SqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { accountStream, type AccountCommand } from '../../domain/account/messages.ts';
import { account } from '../../domain/account/account.ts';
import type { AccountState } from '../../domain/account/state.ts';
import { categoryOfStream, EVENT_CATALOGUE, type AnyEvent } from '../../domain/catalogue.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { CHAIN_START, deterministicEventId, type ChainLink } from '../../domain/kernel/chain.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { NewEvent } from '../../domain/kernel/recorded.ts';
import { encodeEvents } from '../../src/writer/append.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { publications, tradeOnce, type Trade } from './trades.ts';

/** A year of trading, as a log of about `events` events. */
interface TradingLog {
  readonly path: string;
  readonly events: number;
  readonly tenants: number;
  readonly seed: number;
  /** Over how long they are spread; left out: one year. */
  readonly years?: number;
  /** How many of the tenants trade in the last month; left out: all. */
  readonly tenantsAtEnd?: number;
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const START_MS = Date.parse('2025-01-01T00:00:00.000Z');
/** Appends under way at a time: the log's writer commits them in groups. */
const WINDOW = 2_000;

const CODECS = new Map(
  Object.entries(EVENT_CATALOGUE).map(([category, union]) => [category, eventCodec<AnyEvent>(union)]),
);

const ACCOUNT = 'account-';

const tenantIn = (stream: string, [first]: readonly AnyEvent[]): string | null => {
  if (stream.startsWith(ACCOUNT)) return stream.slice(ACCOUNT.length);
  return first !== undefined && 'tenant_id' in first.data ? (first.data.tenant_id ?? null) : null;
};

interface Head {
  readonly revision: bigint;
  readonly link: ChainLink;
}

/** Appends events stream by stream without waiting for each: this program is the only writer. */
const appender = (log: SqliteEventLog) => {
  const heads = new Map<string, Head>();
  const underWay = new Set<Promise<void>>();
  let written = 0;

  const appendNow = async (stream: string, head: Head | undefined, events: readonly NewEvent[]) => {
    const result = await log.append(stream, head?.revision ?? 'no_stream', events);
    if (result.kind !== 'appended') throw new Error(`${stream}: ${result.kind}`);
  };

  return {
    written: () => written,
    append: async (stream: string, made: readonly AnyEvent[], meta: CommandMeta) => {
      const codec = CODECS.get(categoryOfStream(stream));
      if (codec === undefined || made.length === 0) return;
      const head = heads.get(stream);
      const encoding = { stream, tenantId: tenantIn(stream, made), codec };
      const encoded = encodeEvents(encoding, { events: made, meta }, head?.link ?? CHAIN_START);
      const revision = (head?.revision ?? -1n) + BigInt(made.length);
      heads.set(stream, { revision, link: encoded.link });
      written += made.length;
      const work = appendNow(stream, head, encoded.events).finally(() => underWay.delete(work));
      underWay.add(work);
      if (underWay.size >= WINDOW) await Promise.race(underWay);
    },
    drain: () => Promise.all(underWay),
  };
};

type Appender = ReturnType<typeof appender>;

const metaAt = (now: string, id: string): CommandMeta => ({
  now,
  actor: { key_id: 'key_bench', role: 'admin' },
  correlation_id: id,
  command_id: deterministicEventId('bench', id, 0),
});

/** Decides account commands on states kept here, and appends what they come to. */
const accountsOn = (to: Appender) => {
  const states = new Map<string, AccountState>();
  return {
    stateOf: (tenant: string) => states.get(tenant) ?? account.initialState,
    execute: async (command: AccountCommand): Promise<void> => {
      const { tenant_id } = command.data;
      const state = states.get(tenant_id) ?? account.initialState;
      const decision = account.decide(state, command);
      if (decision.kind === 'rejected') return;
      states.set(tenant_id, decision.events.reduce(account.evolve, state));
      await to.append(accountStream(tenant_id), decision.events, command.meta);
    },
  };
};

/** Of a log with so many events, those before its last month. */
export const eventsBeforeEnd = ({ events, years = 1 }: Pick<TradingLog, 'events' | 'years'>): number =>
  Math.floor(events * (1 - 1 / (12 * years)));

/** Writes the log; an existing file of that name is replaced. Gives the number of events written. */
export const writeTradingLog = async (
  { path, events, tenants, seed, years = 1, tenantsAtEnd = tenants }: TradingLog,
  onProgress: (written: number) => void,
): Promise<number> => {
  for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
  const log = openSqliteEventLog({ path });
  const to = appender(log);
  const accounts = accountsOn(to);
  const random = seededRandom(seed);
  const trade: Trade = {
    tenants,
    random,
    accounts,
    metaAt,
    publish: to.append,
  };
  await publications(trade, new Date(START_MS).toISOString());
  for (let serial = 0; to.written() < events; serial += 1) {
    const at = new Date(START_MS + Math.floor((to.written() / events) * years * YEAR_MS)).toISOString();
    const isAtEnd = to.written() >= eventsBeforeEnd({ events, years });
    await tradeOnce(isAtEnd ? { ...trade, tenants: tenantsAtEnd } : trade, { serial, at });
    if (serial % 5_000 === 0) onProgress(to.written());
  }
  await to.drain();
  await log.close();
  return to.written();
};

/** Events of one stream, in their order, and when they were written. */
interface StreamEvents {
  readonly stream: string;
  readonly events: readonly object[];
  readonly at: string;
}

/** Writes a log of given events. Events of a stream that comes again stand behind its earlier ones. */
export const writeEvents = async (path: string, all: Iterable<StreamEvents>): Promise<void> => {
  const log = openSqliteEventLog({ path });
  const to = appender(log);
  for (const { stream, events, at } of all)
    await to.append(stream, events as readonly AnyEvent[], metaAt(at, `${stream} ${at}`));
  await to.drain();
  await log.close();
};

/** Copies a log that nobody writes: what SQLite has not yet moved into the file lies beside it. */
export const copyTradingLog = (from: string, to: string): void => {
  for (const suffix of ['', '-wal'])
    if (existsSync(`${from}${suffix}`)) copyFileSync(`${from}${suffix}`, `${to}${suffix}`);
};
