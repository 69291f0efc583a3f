import type { Contestant, Load } from './contestant.ts';
import { medianRun, type Run } from '../../engine/test/bench/measure.ts';
import { serverSettings, sqlContestants } from './http/sqlBurns.ts';
import { writerContestants, type WriterBenchOptions } from './writerBurns.ts';

/** What is measured, and against what. */
export interface BurnsBench {
  /** A real Postgres with fsync on; without one only Quire runs. */
  readonly databaseUrl: string | undefined;
  readonly folder: string;
  readonly seconds: number;
  readonly rounds: number;
  readonly projections?: WriterBenchOptions['projections'];
}

const LOADS = [
  { title: 'one hot tenant, 16 in flight', tenants: 1, inFlight: 16 },
  { title: 'one hot tenant, 64 in flight', tenants: 1, inFlight: 64 },
  { title: '1,000 tenants, 16 in flight', tenants: 1000, inFlight: 16 },
  { title: '1,000 tenants, 64 in flight', tenants: 1000, inFlight: 64 },
] as const;

/**
 * Durable burns per second, each with its idempotency and balance check: contestants take turns within
 * a round, the medians over the rounds are printed. Throws when anybody's books do not balance.
 */
export const benchBurns = async (bench: BurnsBench): Promise<void> => {
  const { databaseUrl, folder, projections } = bench;
  const sql = databaseUrl === undefined ? [] : sqlContestants(databaseUrl);
  const options = { folder, ...(projections === undefined ? {} : { projections }) };
  const contestants = [...writerContestants(options), ...sql];
  if (databaseUrl === undefined) console.log('BENCH_DATABASE_URL is not set: no SQL baselines.');
  else console.log(`Postgres: ${await serverSettings(databaseUrl)}`);
  console.log(`${bench.rounds} rounds of ${bench.seconds} s each, log in ${folder}`);
  for (const { title, ...load } of LOADS) {
    const runs = await alternate(bench, contestants, load);
    console.log(`\n${title}`);
    console.table(tableOf(contestants, runs));
  }
};

type Runs = Map<string, (Run & { readonly note?: string })[]>;

const alternate = async (
  { rounds, seconds }: BurnsBench,
  contestants: readonly Contestant[],
  load: Pick<Load, 'tenants' | 'inFlight'>,
): Promise<Runs> => {
  const runs: Runs = new Map();
  for (const { run } of contestants) await run({ ...load, seconds: Math.min(1, seconds), seed: 1 });
  for (let round = 1; round <= rounds; round += 1)
    for (const { name, run } of contestants) {
      const result = await run({ ...load, seconds, seed: round });
      runs.set(name, [...(runs.get(name) ?? []), result]);
    }
  return runs;
};

const tableOf = (contestants: readonly Contestant[], runs: Runs) => {
  const medians = new Map([...runs].map(([name, all]) => [name, medianRun(all)]));
  const baseline = (prefix: string) => [...medians].find(([name]) => name.startsWith(prefix))?.[1].perSecond;
  const times = (perSecond: number, of: number | undefined) =>
    of === undefined ? '' : `${(perSecond / of).toFixed(2)} ×`;
  return Object.fromEntries(
    contestants.map(({ name }) => {
      const all = runs.get(name) ?? [];
      const { perSecond, p50Ms, p99Ms } = medianRun(all);
      const rates = all.map((run) => Math.round(run.perSecond));
      return [
        name,
        {
          'burns/s': Math.round(perSecond),
          spread: `${Math.min(...rates)}–${Math.max(...rates)}`,
          'p50 ms': p50Ms.toFixed(2),
          'p99 ms': p99Ms.toFixed(2),
          'of R0': times(perSecond, baseline('R0')),
          'of R1': times(perSecond, baseline('R1')),
          note: all.at(-1)?.note ?? '',
        },
      ];
    }),
  );
};
