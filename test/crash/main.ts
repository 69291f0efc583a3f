import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteEventLog } from '../../adapters/embedded/sqliteEventLog.ts';
import { startService } from '../support/serviceProcess.ts';
import { auditLog, expectReadModelsEqualRebuild } from './audit.ts';
import { expectBooksBalanced, openTenants, runRound, settleUnknown, type Books } from './rounds.ts';

const rounds = Number(process.env['CRASH_ROUNDS'] ?? 100);
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000);
const callers = Number(process.env['CRASH_CALLERS'] ?? 12);

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

const countOf = (books: Books, outcome: Books['operations'][number]['outcome']): number =>
  books.operations.filter((operation) => operation.outcome === outcome).length;

const main = async (): Promise<void> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'quire-crash-'));
  console.log(`${rounds} rounds of kill -9, ${callers} callers, seed ${seed} (CRASH_SEED repeats it)`);
  const books = await begin(dataDir);
  const starts: number[] = [];
  let unknown = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const { settled, sent, startedInMs } = await runRound(books, { dataDir, seed: seed + round, callers });
    starts.push(startedInMs);
    unknown += settled;
    if (round % 10 === 0 || round === rounds)
      console.log(
        `round ${round}: ${books.operations.length} operations, last round ${sent} sent, healthy after ${Math.round(startedInMs)} ms`,
      );
  }
  await endWell(books, dataDir);

  const log = openSqliteEventLog({ path: join(dataDir, 'events.db'), readOnly: true });
  const events = await auditLog(log);
  await log.close();
  await expectReadModelsEqualRebuild(dataDir);
  await rm(dataDir, { recursive: true, force: true });

  starts.sort((a, b) => a - b);
  console.log(
    [
      `operations: ${books.operations.length} sent, ${countOf(books, 'done')} done, ${countOf(books, 'refused')} refused`,
      `            ${unknown} were cut off by a kill and settled by repeating them`,
      `log: ${events} events, chains unbroken, no identity took effect twice, balances follow`,
      'acknowledged commands: none lost, none doubled; books balanced after every restart',
      'read models: equal to a rebuild from nothing',
      `restart to healthy: median ${Math.round(starts[Math.floor(starts.length / 2)] ?? 0)} ms, worst ${Math.round(starts.at(-1) ?? 0)} ms`,
    ].join('\n'),
  );
};

await main();
