import { postgresSql } from '../../adapters/postgres/postgresSql.ts';
import type { HttpRun } from './httpClient.ts';
import { bareSide, quireSide, type HttpSide, type SideLoad } from './httpSides.ts';
import { EMPTY_DATABASE } from './live.ts';
import { median, medianRun } from './measure.ts';
import { serverSettings } from './sqlBurns.ts';

const { env } = process;
const databaseUrl = env['BENCH_DATABASE_URL'];
if (databaseUrl === undefined)
  throw new Error('BENCH_DATABASE_URL must name a PostgreSQL that may be emptied');
const rounds = Number(env['BENCH_ROUNDS'] ?? 5);
const seconds = Number(env['BENCH_SECONDS'] ?? 4);
const tenantsMax = Number(env['BENCH_TENANTS'] ?? 1_000);
const only = env['BENCH_ONLY'];

const many = `${tenantsMax.toLocaleString('en')} tenants`;
const LOADS = [1, tenantsMax].flatMap((tenants) =>
  [16, 64].map((connections) => ({
    title: `${tenants === 1 ? 'one hot tenant' : many}, ${connections} connections`,
    tenants,
    connections,
  })),
);

type Ask = (side: HttpSide) => ((load: SideLoad) => Promise<HttpRun>) | undefined;

/** Sides take turns within a round; the last one is what the others are compared with. */
const compared = async (
  title: string,
  { sides, ask, load }: { sides: readonly HttpSide[]; ask: Ask; load: Omit<SideLoad, 'seconds' | 'seed'> },
): Promise<void> => {
  if (only !== undefined && !title.includes(only)) return;
  const taken = new Map(sides.map(({ name }) => [name, [] as HttpRun[]]));
  for (const side of sides) await ask(side)?.({ ...load, seconds: 1.5, seed: 0 });
  for (let round = 1; round <= rounds; round += 1)
    for (const side of sides) {
      const run = await ask(side)?.({ ...load, seconds, seed: round });
      if (run !== undefined) taken.get(side.name)?.push(run);
    }
  const base = taken.get(sides.at(-1)?.name ?? '') ?? [];
  console.log(`\n${title}`);
  console.table(
    [...taken].map(([side, runs]) => {
      const { perSecond, p50Ms, p99Ms } = medianRun(runs);
      const rates = runs.map((run) => Math.round(run.perSecond));
      const ratios = runs.map((run, n) => run.perSecond / (base[n]?.perSecond ?? Number.NaN));
      return {
        side,
        'req/s': Math.round(perSecond),
        spread: `${Math.min(...rates)}–${Math.max(...rates)}`,
        'p50 / p99 ms': `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}`,
        ratio: median(ratios).toFixed(2),
        'ratio spread': `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
        failed: runs.reduce((sum, run) => sum + run.failed, 0),
      };
    }),
  );
};

const sql = postgresSql({ url: databaseUrl });
await sql.script(EMPTY_DATABASE);
const onPostgres = await quireSide('Quire, DATABASE_URL', { DATABASE_URL: databaseUrl }, tenantsMax);
const embedded = await quireSide('Quire, embedded', {}, tenantsMax);
const bare = await bareSide(databaseUrl, tenantsMax);
const sides = [onPostgres, embedded, bare];
console.log(`PostgreSQL: ${await serverSettings(databaseUrl)}`);
console.log(`${rounds} rounds of ${seconds} s each; medians, and the ratios of each round`);
try {
  for (const { title, ...load } of LOADS)
    await compared(`burns: ${title}`, { sides, ask: ({ burn }) => burn, load });
  for (const tenants of [1, tenantsMax]) {
    const load = { tenants, connections: 16 };
    const title = `balance reads: ${tenants === 1 ? 'one tenant' : many}, 16 connections`;
    await compared(title, { sides, ask: ({ readBalance }) => readBalance, load });
  }
  for (const side of sides) await side.checkBooks();
  console.log('\nAll books balance.');
} finally {
  for (const side of sides) await side.stop();
  await sql.script(EMPTY_DATABASE);
  await sql.close();
}
