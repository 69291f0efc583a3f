import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyEventLog, openSqliteEventLog, type SqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { openObjectFolder } from '../../adapters/local/objectFolder.ts';
import { systemClock } from '../../adapters/local/local.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import { type RecordedEvent, storedEvent } from '../../domain/kernel/recorded.ts';
import { openedLog, sealLog } from '../../src/commands/sealing.ts';
import {
  archiveLog,
  type Archived,
  type ArchiveDeps,
  type ArchiveWish,
  RECORD_MS,
} from '../../src/operator/archive.ts';
import { chainsThread, findSeals, withAuditedLog } from '../../src/operator/auditedLog.ts';
import { runAudit } from '../../src/audit/runAudit.ts';
import { everything } from '../../src/audit/streams.ts';
import { archiveIn } from '../../src/parts/archive.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { startApi } from '../http/support/testApi.ts';

const DAY_MS = 86_400_000;
export const LOG = 'events.db';

const lockless = {
  refusal: () => Promise.resolve('this store has no lock'),
  putLocked: () => Promise.reject(new Error('no lock')),
};

/** A log with two closed months, what came after them, and a seal of all that. */
export interface ClosedLog {
  readonly folder: TempFolder;
  /** Last days of the two months, and of the one that is open. */
  readonly days: readonly [first: string, second: string, open: string];
  /** The time at its end. */
  readonly now: string;
}

/** What tenants do in a month. */
const trade = async (api: Awaited<ReturnType<typeof startApi>>, month: string): Promise<void> => {
  for (const tenant of ['acme', 'blue', 'cyan']) {
    await api.sell(tenant, 20_000);
    for (let at = 0; at < 6; at += 1)
      await api.call('post', '/v1/billing/dspy-examples-charge', {
        json: { tenant_id: tenant, idempotency_key: `${month} ${String(at)}` },
      });
  }
};

/** A service trades for two months and closes them; its log is copied. */
export const closedLog = async (): Promise<ClosedLog> => {
  const api = await startApi();
  try {
    const now = () => api.deps.clock.now();
    const dayBefore = (day: string) => laterBy(day, -1).slice(0, 10);
    const nextMonth = (): string => {
      const next = laterBy(`${now().slice(0, 7)}-28T00:00:00.000Z`, 5 * DAY_MS).slice(0, 7);
      return `${next}-01T00:00:00.000Z`;
    };
    const close = async (): Promise<string> => {
      const [month, end] = [now().slice(0, 7), nextMonth()];
      await trade(api, month);
      api.wait(Date.parse(end) + 60_000 - Date.parse(now()));
      const { status } = await api.call('post', `/v1/admin/books/months/${month}/close`);
      if (status !== 200) throw new Error(`the month was not closed: ${String(status)}`);
      return dayBefore(end);
    };
    const [first, second] = [await close(), await close()];
    const open = dayBefore(nextMonth());
    await trade(api, 'open');
    const { log, deps } = api;
    const signal = new AbortController().signal;
    await sealLog({ log, locked: lockless, clock: deps.clock }, { retainDays: null, signal });
    const folder = tempFolder();
    await copyEventLog(join(api.dataDir, LOG), join(folder.path, LOG), signal);
    return { folder, days: [first, second, open], now: now() };
  } finally {
    await api.stop();
  }
};

/** A data folder with a copy of a log, for one test. */
export const copyOfLog = ({ folder }: Pick<ClosedLog, 'folder'>): TempFolder => {
  const own = tempFolder();
  copyFileSync(join(folder.path, LOG), join(own.path, LOG));
  return own;
};

export const openArchived = (
  dataDir: string,
  options: { readonly readOnly?: boolean; readonly stored?: boolean } = { readOnly: true },
): SqliteEventLog =>
  openSqliteEventLog({ path: join(dataDir, LOG), archive: archiveIn({ dataDir }), ...options });

/** The whole audit of the log in a folder, alone. `threads`: by two, as long logs are. */
export const auditOf = (dataDir: string, threads = false) =>
  withAuditedLog(
    { dataDir, eventStoreUrl: undefined, databaseUrl: undefined },
    async ({ feed, dense, checkArchive }) => {
      const { flaws: sealFlaws, ...found } = await findSeals({ s3: undefined }, feed, systemClock().now());
      const startChains = chainsThread(feed, join(dataDir, LOG), { eventsMin: 0n, archive: { dataDir } });
      const archive = await checkArchive?.();
      const log = { feed, dense, archive, ...(threads && { startChains }) };
      return (await runAudit({ ...log, ...found, sealFlaws, keep: 200 })).report;
    },
  );

/** Archives the log in a folder, a few events a file. */
export const archiveIt = async (
  dataDir: string,
  { now, ...other }: Partial<ArchiveDeps & ArchiveWish> & { readonly until: string; readonly now: string },
): Promise<Archived> => {
  const log = openArchived(dataDir, {});
  const clock = { ...systemClock(), now: () => now };
  const objects = await openObjectFolder(join(dataDir, 'objects'));
  const { signal } = new AbortController();
  const deps: ArchiveDeps = {
    path: join(dataDir, LOG),
    log,
    objects,
    locked: lockless,
    clock,
    logId: await openedLog(log, now),
    audit: () => auditOf(dataDir),
    seal: () =>
      sealLog({ log, locked: lockless, clock }, { retainDays: null, signal, deadlineMs: RECORD_MS }),
    fileEvents: 20,
    ...other,
  };
  return archiveLog(deps, { retainDays: null, dryRun: false, signal, ...other });
};

/** All that an event is. */
export const textOf = (event: RecordedEvent): string => {
  const { id, stream, revision, position, type, data, metadata } = storedEvent(event);
  return JSON.stringify([id, stream, String(revision), String(position), type, data, metadata]);
};

/** Whether an event is one that archiving itself writes. */
const isOfArchive = ({ type, position }: RecordedEvent, end: bigint): boolean =>
  position > end && (type === 'LogArchived' || type === 'LogSealed');

export const collected = async (events: AsyncIterable<RecordedEvent>): Promise<string[]> => {
  const all: string[] = [];
  for await (const event of events) all.push(textOf(event));
  return all;
};

/** Every event of the log in a folder, but for those that archiving wrote. */
export const eventsOf = async (dataDir: string, end = 10_000_000n): Promise<readonly RecordedEvent[]> => {
  const log = openArchived(dataDir);
  try {
    const all: RecordedEvent[] = [];
    for await (const event of everything(log)) if (!isOfArchive(event, end)) all.push(event);
    return all;
  } finally {
    await log.close();
  }
};

/** Why some work is refused, in its own words. */
export const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was refused',
    (error: unknown) => (error as Error).message,
  );
