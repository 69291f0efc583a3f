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
import { caller, expectBooksBalanced, openTenants, settleUnknown, runRound, type Books } from './rounds.ts';
import { KILL_POINTS, type KillPoint } from './killPoints.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGKILL'] as const;

/** The latest moment of a signal after the start, ms; on a machine that is slow, after two times what a start takes. */
const LATEST_MS = 3_000;
const CALLERS = 4;
const CHECK_EVERY = 25;

/** What a data folder holds when nobody has it open: files of its own, and folders whose content is their own. */
const FILES = [
  'encryption-secret',
  'owner.pid',
  'session-secret',
  'upload-secret',
  // SQLite's own beside the log, which the next start goes on with
  'events.db',
  'events.db-shm',
  'events.db-wal',
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
const oneStart = async (books: Books, folders: Folders, random: Random): Promise<[Ending, boolean]> => {
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
const runStarts = async (rounds: number, seed: number): Promise<void> => {
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
    const [ending, wasHealthy] = await oneStart(books, folders, random);
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

const rounds = Number(process.env['CRASH_ROUNDS'] ?? 100);
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000);
const callers = Number(process.env['CRASH_CALLERS'] ?? 12);
/** A data folder is audited and left for a new one after so many rounds: a long history only slows starts. */
const ROUNDS_PER_FOLDER = 25;
/** Of this many rounds one dies at a random moment instead of a named point. */
const RANDOM_EVERY = 5;

const begin = async (dataDir: string): Promise<Books> => {
  const service = await startService(dataDir);
  const books = { tenants: await openTenants(service.url), operations: [] };
  await service.stop('SIGKILL');
  return books;
};

/** Comes up once more, settles what was left, lets the projections catch up, and stops as asked. */
const endWell = async (books: Books, dataDir: string): Promise<void> => {
  const service = await startService(dataDir);
  await settleUnknown(books, service.url);
  await expectBooksBalanced(books, service.url);
  const code = await service.stop('SIGTERM');
  if (code !== 0)
    throw new Error(`after SIGTERM the service ended with ${String(code)}:\n${service.output()}`);
};

interface Totals {
  rounds: number;
  operations: number;
  done: number;
  refused: number;
  settled: number;
  events: number;
  withRebuild: number;
  readonly starts: number[];
  readonly met: Map<KillPoint | 'a random moment', number>;
}

const count = (totals: Totals, name: KillPoint | 'a random moment'): void => {
  totals.met.set(name, (totals.met.get(name) ?? 0) + 1);
};

const oneRound = async (books: Books, totals: Totals, dataDir: string): Promise<void> => {
  const number = totals.rounds;
  const isRandom = number % RANDOM_EVERY === RANDOM_EVERY - 1;
  const named = seed + number - Math.floor(number / RANDOM_EVERY);
  const point = isRandom ? undefined : KILL_POINTS[named % KILL_POINTS.length];
  const rebuilding = number % 2 === 1;
  const round = { dataDir, seed: seed + number, callers, point, rebuilding };
  const { settled, startedInMs, hit } = await runRound(books, round);
  totals.rounds += 1;
  totals.settled += settled;
  totals.withRebuild += rebuilding ? 1 : 0;
  if (startedInMs !== undefined) totals.starts.push(startedInMs);
  count(totals, hit && point !== undefined ? point : 'a random moment');
};

const audited = async (books: Books, totals: Totals, dataDir: string): Promise<void> => {
  await endWell(books, dataDir);
  const log = openSqliteEventLog({ path: join(dataDir, 'events.db'), readOnly: true });
  totals.events += await auditLog(log);
  await log.close();
  await expectReadModelsEqualRebuild(dataDir);
  const ended = (outcome: string) =>
    books.operations.filter((operation) => operation.outcome === outcome).length;
  totals.operations += books.operations.length;
  totals.done += ended('done');
  totals.refused += ended('refused');
};

const oneFolder = async (totals: Totals): Promise<void> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'quire-crash-'));
  const books = await begin(dataDir);
  const until = Math.min(totals.rounds + ROUNDS_PER_FOLDER, rounds);
  while (totals.rounds < until) {
    try {
      await oneRound(books, totals, dataDir);
    } catch (error) {
      console.error(`round ${totals.rounds} of seed ${seed} failed; its data is in ${dataDir}`);
      throw error;
    }
    if (totals.rounds % 10 === 0)
      console.log(`round ${totals.rounds}: ${books.operations.length} operations`);
  }
  await audited(books, totals, dataDir);
  await rm(dataDir, { recursive: true, force: true });
  console.log(`audited after round ${totals.rounds}: nothing lost, nothing doubled, ${totals.events} events`);
};

const report = (totals: Totals): void => {
  const starts = totals.starts.sort((a, b) => a - b);
  const at = (share: number) => Math.round(starts[Math.floor((starts.length - 1) * share)] ?? 0);
  const points = [...KILL_POINTS, 'a random moment' as const];
  console.log(
    [
      `rounds: ${totals.rounds}, ${totals.withRebuild} of them with a rebuild running`,
      ...points.map((name) => `  ${String(totals.met.get(name) ?? 0).padStart(4)}  killed ${name}`),
      `operations: ${totals.operations} sent, ${totals.done} done, ${totals.refused} refused;`,
      `            ${totals.settled} were cut off by a kill and settled by repeating them`,
      `log: ${totals.events} events, chains unbroken, no identity took effect twice, balances follow`,
      'acknowledged commands: none lost, none doubled; books balanced after every restart',
      'read models: equal to a rebuild from nothing',
      `restart to healthy: median ${at(0.5)} ms, worst ${at(1)} ms`,
    ].join('\n'),
  );
};

const main = async (): Promise<void> => {
  console.log(`${rounds} rounds of kill -9, ${callers} callers, seed ${seed} (CRASH_SEED repeats it)`);
  const none = { rounds: 0, operations: 0, done: 0, refused: 0, settled: 0, events: 0, withRebuild: 0 };
  const totals: Totals = { ...none, starts: [], met: new Map() };
  while (totals.rounds < rounds) await oneFolder(totals);
  report(totals);
};

/** `--starts 200`: starts that are told to end at random moments, instead of rounds of kill -9. */
const startsAt = process.argv.indexOf('--starts');
if (startsAt < 0) await main();
else {
  console.log(`starts that end at a random moment, seed ${seed} (CRASH_SEED repeats it)`);
  await runStarts(Number(process.argv[startsAt + 1] ?? 200), seed);
}
