import { driverAlone, type Contestant, type Load } from './contestant.ts';
import { medianRun, type Run } from '../../engine/test/bench/measure.ts';
import { doubleEntry } from './peers/doubleEntry.ts';
import { emmettAccounts } from './peers/emmett.ts';
import { redisLua } from './peers/redisLua.ts';
import { serverSettings, sqlContestants } from './http/sqlBurns.ts';
import { writerContestants, type WriterBenchOptions } from './writerBurns.ts';

/** What is measured, and against what. */
export interface BurnsBench {
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
  /** Part of the titles of the loads that are run. */
  readonly only?: string;
  readonly projections?: WriterBenchOptions['projections'];
}

const loadsOf = (many: number) =>
  [1, Math.ceil(many / 5), many].flatMap((tenants) =>
    [16, 64].map((inFlight) => {
      const who = tenants === 1 ? 'one hot tenant' : `${tenants.toLocaleString('en')} tenants`;
      return { title: `${who}, ${inFlight} in flight`, tenants, inFlight };
    }),
  );

const contestantsOf = async (bench: BurnsBench): Promise<readonly Contestant[]> => {
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
export const benchBurns = async (bench: BurnsBench): Promise<void> => {
  const contestants = await contestantsOf(bench);
  const each = bench.units === undefined ? `${bench.seconds} s` : `${bench.units} burns`;
  console.log(`${bench.rounds} rounds of ${each} each, log in ${bench.folder}`);
  for (const { title, ...load } of loadsOf(bench.tenants)) {
    if (!title.includes(bench.only ?? '')) continue;
    const runs = await alternate(bench, [driverAlone, ...contestants], load);
    const driver = medianRun(runs.get(driverAlone.name) ?? []).cpuMs ?? 0;
    console.log(`\n${title}; CPU without the callers' own ${driver.toFixed(4)} ms a burn`);
    console.table(tableOf(contestants, runs, driver));
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
