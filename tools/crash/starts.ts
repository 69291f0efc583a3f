import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { filesIn } from '../../src/backup/files.ts';
import { seededRandom, type Random } from '../../engine/test/support/random.ts';
import { freePort } from '../../test/support/freePort.ts';
import { MAIN } from '../../test/support/program.ts';
import { ADMIN_KEY, startService } from '../../test/support/serviceProcess.ts';
import { auditLog, expectReadModelsEqualRebuild } from './audit.ts';
import { caller, expectBooksBalanced, openTenants, settleUnknown, type Books } from './rounds.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGKILL'] as const;

/** The latest moment of a signal after the start, ms; on a machine that is slow, after two times what a start takes. */
const LATEST_MS = 3_000;
const CALLERS = 4;
const CHECK_EVERY = 25;

/** What a data folder holds when nobody has it open: files of its own, and folders whose content is their own. */
const FILES = [
  ...['encryption-secret', 'owner.pid', 'session-secret', 'upload-secret'],
  // SQLite's own beside the log, which the next start goes on with
  ...['events.db', 'events.db-shm', 'events.db-wal'],
];
const FOLDERS = ['objects/objects/', 'read-models/'];

interface Folders {
  readonly latestMs: number;
  readonly dataDir: string;
  readonly temporary: string;
}

/** How a round ended: in order, before there was anything to put in order, or by a kill. */
type Ending = 'in order' | 'before it began' | 'killed';

interface Counts {
  readonly endings: Record<Ending, number>;
  healthy: number;
}

const expectNothingLeft = async ({ dataDir, temporary }: Omit<Folders, 'latestMs'>): Promise<void> => {
  const left: string[] = [];
  for await (const path of filesIn(dataDir))
    if (!FILES.includes(path) && !FOLDERS.some((folder) => path.startsWith(folder))) left.push(path);
  expect([...left, ...(await readdir(temporary))], 'files that are left').to.deep.equal([]);
};

const isHealthy = (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ status }) => status === 200,
    () => false,
  );

interface Load {
  readonly url: string;
  alive: boolean;
  wasHealthy: boolean;
}

/** Sends operations from the first healthy answer on, while the load lives. */
const workingWith = async (books: Books, load: Load, random: Random): Promise<void> => {
  while (load.alive && !load.wasHealthy) {
    load.wasHealthy = await isHealthy(load.url);
    if (!load.wasHealthy) await pause(20);
  }
  const callers = load.wasHealthy ? CALLERS : 0;
  await Promise.all(Array.from({ length: callers }, () => caller(books, random, load)));
};

/** Starts the service, works with it once it answers, and tells it to end at a random moment. */
const oneRound = async (books: Books, folders: Folders, random: Random): Promise<[Ending, boolean]> => {
  const [signal, delayMs, port] = [
    random.pick(SIGNALS),
    random.between(0, folders.latestMs),
    await freePort(),
  ];
  const { PATH = '', HOME = '' } = process.env;
  const own = { DATA_DIR: folders.dataDir, TMPDIR: folders.temporary, PORT: String(port) };
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH, HOME, ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: 'warn', ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'close');
  const load = { url: `http://127.0.0.1:${String(port)}`, alive: true, wasHealthy: false };
  const working = workingWith(books, load, random);
  await Promise.race([pause(delayMs), ended]);
  const ranUntilThen = child.exitCode === null && child.signalCode === null;
  expect(ranUntilThen, `it ended by itself:\n${output}`).to.equal(true);
  child.kill(signal);
  const [code] = (await ended) as [number | null];
  load.alive = false;
  await working;
  const { wasHealthy } = load;
  if (signal === 'SIGKILL') return ['killed', wasHealthy];
  if (code === null && output === '' && !wasHealthy) return ['before it began', false];
  expect(code, `${signal} after ${String(delayMs)} ms:\n${output}`).to.equal(0);
  if (wasHealthy) await expectNothingLeft(folders);
  return ['in order', wasHealthy];
};

/** Comes up, has all that was acknowledged, ends in order and leaves nothing. */
const expectWell = async (books: Books, { dataDir, temporary }: Folders): Promise<void> => {
  const service = await startService(dataDir, { TMPDIR: temporary });
  await settleUnknown(books, service.url);
  await expectBooksBalanced(books, service.url);
  expect(await service.stop('SIGTERM'), service.output()).to.equal(0);
  await expectNothingLeft({ dataDir, temporary });
};

/**
 * Starts the service again and again on one folder and tells it to end, or kills it, up to three seconds later: each
 * start works at once, nothing is left, and the audit is clean.
 */
export const runStarts = async (rounds: number, seed: number): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'quire-starts-'));
  const [dataDir, temporary] = [join(folder, 'data'), join(folder, 'tmp')];
  await mkdir(temporary);
  const random = seededRandom(seed);
  const first = await startService(dataDir, { TMPDIR: temporary });
  const folders: Folders = {
    dataDir,
    temporary,
    latestMs: Math.max(LATEST_MS, Math.round(2 * first.startedInMs)),
  };
  const books: Books = { tenants: await openTenants(first.url), operations: [] };
  await first.stop('SIGKILL');
  const counts: Counts = { endings: { 'in order': 0, 'before it began': 0, killed: 0 }, healthy: 0 };
  for (let round = 1; round <= rounds; round += 1) {
    const [ending, wasHealthy] = await oneRound(books, folders, random);
    counts.endings[ending] += 1;
    if (wasHealthy) counts.healthy += 1;
    if (round % CHECK_EVERY !== 0 && round !== rounds) continue;
    await expectWell(books, folders);
    console.log(`round ${String(round)}: ${String(books.operations.length)} operations, books balanced`);
  }
  const log = openSqliteEventLog({ path: join(dataDir, 'events.db'), readOnly: true });
  const events = await auditLog(log);
  await log.close();
  await expectReadModelsEqualRebuild(dataDir);
  await rm(folder, { recursive: true, force: true });
  console.log(
    `${String(rounds)} starts: ${JSON.stringify(counts.endings)}, ${String(counts.healthy)} of them answered before; ` +
      `each start worked at once, no file was left, the audit of ${String(events)} events is clean`,
  );
};
