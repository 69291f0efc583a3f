import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { openSqliteEventLog, type SqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { account } from '../../domain/account/account.ts';
import { accountStream, type AccountCommand } from '../../domain/account/messages.ts';
import { accountCodec, accountWriter, type AccountWriter } from '../../src/writer/accountWriter.ts';
import { adjustment, charge, hold, settle } from '../../test/support/money/accountCommands.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import {
  START_CREDITS,
  timedBurns,
  driverAlone,
  serverSettings,
  sqlContestants,
  type Contestant,
  type Load,
} from './contestants.ts';
import { medianRun, type Run } from '../../engine/test/bench/measure.ts';
import { isAsked, tellFigures, tenantsName, type Figures } from './figures.ts';
import { doubleEntry, emmettAccounts, redisLua } from './peers.ts';
import { projectionsIn } from './live.ts';

/** Projections that run beside the writer and are waited for when it stops. */
interface ProjectionsBeside {
  /** Whether they reached the log's end within the time. */
  readonly caughtUp: (timeoutMs: number) => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

interface WriterBenchOptions {
  /** Where the log's file lies: the disk that is measured. */
  readonly folder: string;
  readonly projections?: (log: SqliteEventLog, folder: string) => Promise<ProjectionsBeside>;
}

const CATCH_UP_MS = 120_000;

type Burn = (writer: AccountWriter, tenant: string, key: string) => Promise<void>;

const done = async (writer: AccountWriter, command: AccountCommand): Promise<void> => {
  const { kind } = await writer.execute(command);
  if (kind !== 'done') throw new Error(`${command.type}: ${kind}`);
};

const keyedCharge: Burn = (writer, tenant, key) => done(writer, charge(tenant, 1, key));

const holdAndSettle: Burn = async (writer, tenant, key) => {
  await done(writer, hold(tenant, key, 1));
  await done(writer, settle(tenant, key, 1));
};

const run = async (options: WriterBenchOptions, burn: Burn, load: Load): Promise<Run & { note?: string }> => {
  const folder = mkdtempSync(join(options.folder, 'quire-burns-'));
  const log = openSqliteEventLog({ path: join(folder, 'events.db') });
  const projections = await options.projections?.(log, folder);
  const writer = accountWriter({ store: log });
  try {
    await Promise.all(
      Array.from({ length: load.tenants }, (_, n) => done(writer, adjustment(`t${n}`, START_CREDITS))),
    );
    const random = seededRandom(load.seed);
    let note = {};
    const result = await timedBurns(load, {
      once: (caller, turn) => burn(writer, `t${random.between(0, load.tenants - 1)}`, `k${caller}-${turn}`),
      ...(projections && {
        after: async () => {
          note = { note: await catchUp(projections) };
        },
      }),
    });
    await writer.close();
    await verify(log, load.tenants, result.done);
    return { ...result, ...note };
  } finally {
    await projections?.stop();
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

const catchUp = async ({ caughtUp }: ProjectionsBeside): Promise<string> => {
  const startedAt = performance.now();
  const reached = await caughtUp(CATCH_UP_MS);
  const ms = Math.round(performance.now() - startedAt);
  return reached ? `projections caught up ${ms} ms after` : `projections NOT caught up after ${ms} ms`;
};

/** Reads the log anew: balance = start − burns, each key once, one burn for each that was acknowledged. */
const verify = async (log: SqliteEventLog, tenants: number, acknowledged: number): Promise<void> => {
  const keys = new Set<string>();
  let burns = 0;
  for (let n = 0; n < tenants; n += 1) {
    const tenant = `t${n}`;
    let state = account.initialState;
    let burned = 0;
    for await (const recorded of log.read(accountStream(tenant))) {
      const event = accountCodec.decode(recorded);
      state = account.evolve(state, event);
      if (event.type !== 'CreditsBurned') continue;
      burned += event.data.credits;
      burns += 1;
      keys.add(`${tenant} ${event.data.idempotency_key ?? event.data.hold_id ?? ''}`);
    }
    if (state.balance !== START_CREDITS - burned || state.held !== 0)
      throw new Error(`${tenant}: ${state.balance} is not ${START_CREDITS} - ${burned}`);
  }
  if (burns !== acknowledged || keys.size !== burns)
    throw new Error(`${burns} burns under ${keys.size} keys for ${acknowledged} acknowledged`);
};

/** The account writer on the embedded log. */
const writerContestants = (options: WriterBenchOptions): readonly Contestant[] => {
  const beside = options.projections === undefined ? '' : ' + projections';
  return [
    { name: `Quire: keyed charge${beside}`, run: (load) => run(options, keyedCharge, load) },
    { name: `Quire: hold + settle${beside}`, run: (load) => run(options, holdAndSettle, load) },
  ];
};

/** What is measured, and against what. */
interface BurnsBench {
  /** A real Postgres with fsync on; without one only Quire runs. */
  readonly databaseUrl: string | undefined;
  /** A Redis that may be emptied. */
  readonly redisUrl: string | undefined;
  /** Where Emmett is installed. */
  readonly emmett: string | undefined;
  readonly folder: string;
  readonly seconds: number;
  /** Burns of a run; without it, as many as there is time for. */
  readonly units?: number;
  readonly rounds: number;
  /** Tenants where there are many. */
  readonly tenants: number;
  /** Parts of the titles of the loads that are run, between `|`. */
  readonly only: string | undefined;
  /** Parts of the names of those that Quire is compared with, between `|`. */
  readonly against: string | undefined;
  readonly projections?: WriterBenchOptions['projections'];
}

const loadsOf = (many: number) =>
  [1, Math.ceil(many / 5), many].flatMap((tenants) =>
    [16, 64].map((inFlight) => {
      const who = tenants === 1 ? 'one hot tenant' : `${tenants.toLocaleString('en')} tenants`;
      return { title: `${who}, ${inFlight} in flight`, tenants, inFlight };
    }),
  );

/** Quire, and those that can be had here of those that were asked for. */
const contestantsOf = async (bench: BurnsBench): Promise<readonly Contestant[]> =>
  (await everyContestant(bench)).filter(({ name }) => /^Quire/.test(name) || isAsked(name, bench.against));

const everyContestant = async (bench: BurnsBench): Promise<readonly Contestant[]> => {
  const { databaseUrl, redisUrl, emmett, folder, projections } = bench;
  const quire = writerContestants({ folder, ...(projections === undefined ? {} : { projections }) });
  const redis = redisUrl === undefined ? [] : [redisLua(redisUrl)];
  if (redisUrl === undefined) console.log('BENCH_REDIS_URL is not set: no Redis.');
  if (databaseUrl === undefined) {
    console.log('BENCH_DATABASE_URL is not set: no SQL, no Emmett.');
    return [...quire, ...redis];
  }
  console.log(`Postgres: ${await serverSettings(databaseUrl)}`);
  const sql = [...sqlContestants(databaseUrl), doubleEntry(databaseUrl)];
  if (emmett === undefined) console.log('BENCH_EMMETT is not set: no Emmett.');
  return [...quire, ...sql, ...(emmett === undefined ? [] : emmettAccounts(databaseUrl, emmett)), ...redis];
};

/**
 * Durable burns per second, each with its idempotency and balance check: contestants take turns within
 * a round, the medians over the rounds are printed. Throws when anybody's books do not balance.
 */
const benchBurns = async (bench: BurnsBench): Promise<void> => {
  const contestants = await contestantsOf(bench);
  const each = bench.units === undefined ? `${bench.seconds} s` : `${bench.units} burns`;
  console.log(`${bench.rounds} rounds of ${each} each, log in ${bench.folder}`);
  for (const { title, ...load } of loadsOf(bench.tenants)) {
    if (!isAsked(title, bench.only)) continue;
    const runs = await alternate(bench, [driverAlone, ...contestants], load);
    const driver = medianRun(runs.get(driverAlone.name) ?? []).cpuMs ?? 0;
    console.log(`\n${title}; CPU without the callers' own ${driver.toFixed(4)} ms a burn`);
    console.table(tableOf(contestants, runs, driver));
    tellFigures(figuresOf(runs, load, driver));
  }
};

type Runs = Map<string, (Run & { readonly note?: string })[]>;

/** Before the first round of each load: code that has not run is slow. */
const WARM_UP_SECONDS = 2;

const alternate = async (
  { rounds, seconds, units }: BurnsBench,
  contestants: readonly Contestant[],
  load: Pick<Load, 'tenants' | 'inFlight'>,
): Promise<Runs> => {
  const runs: Runs = new Map();
  const limits = { seconds, ...(units === undefined ? {} : { units }) };
  for (const { run } of contestants)
    await run({ ...load, ...limits, seconds: Math.min(WARM_UP_SECONDS, seconds), seed: 1 });
  for (let round = 1; round <= rounds; round += 1)
    for (const { name, run } of contestants) {
      const result = await run({ ...load, ...limits, seed: round });
      runs.set(name, [...(runs.get(name) ?? []), result]);
    }
  return runs;
};

const times = (figure: number | undefined, of: number | undefined) =>
  figure === undefined || of === undefined ? '' : `${(figure / of).toFixed(2)} ×`;

const tableOf = (contestants: readonly Contestant[], runs: Runs, driverCpuMs: number) => {
  const medians = new Map([...runs].map(([name, all]) => [name, medianRun(all)]));
  const baseline = (prefix: string) => [...medians].find(([name]) => name.startsWith(prefix))?.[1];
  const cpuOf = (run: Run | undefined) => run?.cpuMs && run.cpuMs - driverCpuMs;
  return Object.fromEntries(
    contestants.map(({ name }) => {
      const all = runs.get(name) ?? [];
      const run = medianRun(all);
      const rates = all.map(({ perSecond }) => Math.round(perSecond));
      return [
        name,
        {
          'burns/s': Math.round(run.perSecond),
          spread: `${Math.min(...rates)}–${Math.max(...rates)}`,
          'p50 ms': run.p50Ms.toFixed(2),
          'p99 ms': run.p99Ms.toFixed(2),
          'CPU ms': cpuOf(run)?.toFixed(3) ?? 'unknown',
          'of R0': times(run.perSecond, baseline('R0')?.perSecond),
          'of R1': times(run.perSecond, baseline('R1')?.perSecond),
          "of R1's CPU": times(cpuOf(run), cpuOf(baseline('R1'))),
          note: all.at(-1)?.note ?? '',
        },
      ];
    }),
  );
};

/** Quire's burns a second and CPU beside those of one SQL statement; none where there was no SQL. */
const figuresOf = (
  runs: Runs,
  { tenants, inFlight }: Pick<Load, 'tenants' | 'inFlight'>,
  driverCpuMs: number,
): Figures => {
  const runOf = (prefix: string) => {
    const [, all] = [...runs].find(([name]) => name.startsWith(prefix)) ?? [];
    return all && medianRun(all);
  };
  const [charge, hold, sql] = [runOf('Quire: keyed'), runOf('Quire: hold'), runOf('R1')];
  if (charge === undefined || hold === undefined || sql === undefined) return {};
  const load = `${tenantsName(tenants)}, ${inFlight} in flight`;
  const cpu = (charge.cpuMs ?? Number.NaN) - driverCpuMs;
  return {
    [`burns ÷ one SQL statement: ${load}`]: charge.perSecond / sql.perSecond,
    [`hold + settle ÷ one SQL statement: ${load}`]: hold.perSecond / sql.perSecond,
    [`CPU of a burn ÷ the statement's: ${load}`]: cpu / ((sql.cpuMs ?? Number.NaN) - driverCpuMs),
  };
};

/** All read models of the service, on the embedded database and in its thread, as `npm start` runs them. */
const projectionsBeside = async (log: SqliteEventLog, folder: string): Promise<ProjectionsBeside> => {
  const { sql, runner } = await projectionsIn(folder);
  runner.start();
  return {
    caughtUp: async (timeoutMs) => runner.waitFor((await log.head()) ?? 0n, { timeoutMs }),
    stop: async () => {
      await runner.stop();
      await sql.close();
    },
  };
};

const { env } = process;
await benchBurns({
  databaseUrl: env['BENCH_DATABASE_URL'],
  redisUrl: env['BENCH_REDIS_URL'],
  emmett: env['BENCH_EMMETT'],
  folder: env['BENCH_DIR'] ?? tmpdir(),
  tenants: Number(env['BENCH_TENANTS'] ?? 1_000),
  seconds: Number(env['BENCH_SECONDS'] ?? (env['BENCH_UNITS'] === undefined ? 6 : 600)),
  ...(env['BENCH_UNITS'] !== undefined && { units: Number(env['BENCH_UNITS']) }),
  only: env['BENCH_ONLY'],
  against: env['BENCH_AGAINST'],
  rounds: Number(env['BENCH_ROUNDS'] ?? 5),
  ...(env['BENCH_PROJECTIONS'] !== 'off' && { projections: projectionsBeside }),
});
