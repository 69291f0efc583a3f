import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { startService } from '../../test/support/serviceProcess.ts';
import { auditLog, expectReadModelsEqualRebuild } from './audit.ts';
import { KILL_POINTS, type KillPoint } from './killPoints.ts';
import { runStarts } from './starts.ts';
import { expectBooksBalanced, openTenants, runRound, settleUnknown, type Books } from './rounds.ts';

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
