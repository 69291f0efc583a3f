import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../adapters/local/local.ts';
import { openObjectFolder } from '../../adapters/local/objectFolder.ts';
import { openSqliteEventLog, type SqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { books, BOOKS_STREAM, booksEvent, type BooksKind } from '../../domain/books.ts';
import { movedTextsEvent, TEXTS_STREAM, type TextsMoved } from '../../domain/eventLog/movedTexts.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { recorder } from '../../domain/kernel/decider.ts';
import { openedLog, sealLog } from '../../src/commands/sealing.ts';
import { archiveLog } from '../../src/operator/archive.ts';
import { checkArchive } from '../../src/operator/archiveCheck.ts';
import { findSeals, withAuditedLog } from '../../src/operator/auditedLog.ts';
import { runAudit } from '../../src/audit/runAudit.ts';
import { everything } from '../../src/audit/streams.ts';
import { archiveIn } from '../../src/parts/archive.ts';
import { commandHandler } from '../../src/writer/commandHandler.ts';
import { SYSTEM } from '../../src/writer/commandMeta.ts';
import { copyTradingLog, writeTradingLog } from './tradingLog.ts';

const { env } = process;
const events = Number(env['BENCH_EVENTS'] ?? 1_000_000);
const tenants = Number(env['BENCH_TENANTS'] ?? 1_000);
const folder = env['BENCH_DIR'] ?? tmpdir();
/** The generator begins with 2025: four of five years are archived. */
const YEARS = 5;
const UNTIL = '2028-12-31';
const NOW = '2030-01-02T00:00:00.000Z';
const LOCKED = {
  refusal: () => Promise.resolve('the folder has no lock'),
  putLocked: () => Promise.reject(new Error('the folder has no lock')),
};
const { signal } = new AbortController();
const clock = { ...systemClock(), now: () => NOW };

/** Kept for the next run: a large log takes longer to write than to archive. */
const logPath = join(folder, `quire-five-years-${events}-${tenants}.db`);
if (!existsSync(logPath))
  await writeTradingLog({ path: logPath, events, tenants, seed: 20261129, years: YEARS }, () => undefined);

const dataDir = await mkdtemp(join(folder, 'quire-archive-'));
const path = join(dataDir, 'events.db');
copyTradingLog(logPath, path);
const opened = (): SqliteEventLog => openSqliteEventLog({ path, archive: archiveIn({ dataDir }) });

const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
  const began = performance.now();
  const result = await work();
  console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return result;
};

/** Closes the last month without figures: the generator knows none, so findings about books are left out below. */
const closeMonth = async (log: SqliteEventLog): Promise<void> => {
  const handle = commandHandler<BooksKind>({
    decider: books,
    codec: eventCodec(booksEvent),
    store: log,
    tenantOf: () => null,
  });
  const meta = () => ({ now: NOW, actor: SYSTEM, correlation_id: 'bench', command_id: randomUUID() });
  const month = UNTIL.slice(0, 7);
  await handle(BOOKS_STREAM, { type: 'CutOffMonth', data: { month }, meta: meta() });
  const none = { billed_pico_usd: '0', free_tier_pico_usd: '0' };
  const figures = { by_currency: [], costs: { ...none, unpriced_calls: 0, late: none } };
  const data = { closing: 1, month, position: String(await log.head()), figures };
  await handle(BOOKS_STREAM, { type: 'CloseMonth', data, meta: meta() });
};

/** The generator writes texts into events: a mark says that they are in the vault, as quire vault move does. */
const markTexts = async (log: SqliteEventLog): Promise<void> => {
  const handle = commandHandler({
    decider: recorder<TextsMoved>(() => false),
    codec: eventCodec(movedTextsEvent),
    store: log,
    tenantOf: () => null,
  });
  const meta = { now: NOW, actor: SYSTEM, correlation_id: 'bench', command_id: randomUUID() };
  const data = { events: 0, texts: 0, erased: 0, moved_at: NOW };
  await handle(TEXTS_STREAM, { type: 'Record', data: { type: 'TextsMoved', data }, meta });
};

const audited = () =>
  withAuditedLog({ dataDir, eventStoreUrl: undefined, databaseUrl: undefined }, async (given) => {
    const { feed, dense, startChains, startShares } = given;
    const { flaws: sealFlaws, ...found } = await findSeals({ s3: undefined }, feed, NOW);
    const archive = await given.checkArchive?.(signal);
    const request = { feed, dense, startChains, startShares, archive, sealFlaws };
    const { report } = await runAudit({ ...request, ...found });
    const others = report.checks.filter(({ check }) => check !== 'books');
    return { ...report, total: others.reduce((sum, { findings }) => sum + findings, 0) };
  });

const scan = async (): Promise<number> => {
  const log = opened();
  let count = 0;
  for await (const event of everything(log)) count += event.type === '' ? 0 : 1;
  await log.close();
  return count;
};

/** Reads streams of single events, in no order that the archive has. */
const readSome = async (): Promise<number> => {
  const log = opened();
  const streams = new Set<string>();
  for await (const { stream } of log.read('priceList')) streams.add(stream);
  for (let at = 0; at < 50; at += 1) streams.add(`account-tenant-${String(at)}`);
  let count = 0;
  for (const stream of streams)
    for await (const event of log.read(stream, { limit: 1 })) count += event.type.length;
  await log.close();
  return count;
};

/** On a busy machine the thread that writes may load for longer than a command waits. */
const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let tries = 1; tries < 20; tries += 1) {
    const done = await work().catch(() => undefined);
    if (done !== undefined) return done;
  }
  return work();
};

const megabytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

try {
  const log = opened();
  const logId = await patiently(() => openedLog(log, NOW));
  await markTexts(log);
  await closeMonth(log);
  const seal = () =>
    sealLog({ log, locked: LOCKED, clock }, { retainDays: null, signal, deadlineMs: 60_000 });
  await seal();
  const before = await timed('scan of all events before', scan);
  await timed('audit before', audited);
  const objects = await openObjectFolder(join(dataDir, 'objects'));
  const deps = { path, log, logId, objects, locked: LOCKED, clock, seal, audit: audited };
  const made = await timed('archive, with its audit', () =>
    archiveLog(deps, { until: UNTIL, retainDays: null, dryRun: false, signal }),
  );
  console.log(
    `${made.moved_out} events moved; log ${megabytes(made.bytes_before)} before, ${megabytes(made.bytes_after)} ` +
      `after, ${megabytes(made.archive_bytes)} in the archive`,
  );
  const after = await timed('scan of all events after', scan);
  await timed('51 first events of streams', readSome);
  const { total } = await timed('audit after', audited);
  const reader = opened();
  const { files, flaws } = await timed('files compared with the log', () =>
    checkArchive({ log: reader, path, get: archiveIn({ dataDir }) }),
  );
  await reader.close();
  console.log(
    `${files} files, ${flaws.length} flaws; ${total} findings; ${before} events before, ${after} after`,
  );
  if (total + flaws.length > 0) throw new Error(flaws.join('\n'));
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
