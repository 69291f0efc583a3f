import { postgresSql } from '../../../adapters/postgres.ts';
import type { HttpRun } from './httpClient.ts';
import { bareSide, quireSide, type HttpSide, type SideLoad } from './httpSides.ts';
import { comparison } from './httpTable.ts';
import { EMPTY_DATABASE } from '../live.ts';
import { serverSettings } from './sqlBurns.ts';

const { env } = process;
const databaseUrl = env['BENCH_DATABASE_URL'];
if (databaseUrl === undefined)
  throw new Error('BENCH_DATABASE_URL must name a PostgreSQL that may be emptied');
const rounds = Number(env['BENCH_ROUNDS'] ?? 5);
const units = env['BENCH_UNITS'];
const seconds = Number(env['BENCH_SECONDS'] ?? (units === undefined ? 4 : 600));
const limits = { seconds, ...(units !== undefined && { units: Number(units) }) };
const tenantsMax = Number(env['BENCH_TENANTS'] ?? 1_000);
/** Before the first round of each load: code that has not run is slow. */
const WARM_UP_SECONDS = 2;
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
  {
    sides,
    ask,
    load,
  }: { sides: readonly HttpSide[]; ask: Ask; load: Omit<SideLoad, 'seconds' | 'units' | 'seed'> },
): Promise<void> => {
  if (!title.includes(only ?? '')) return;
  const taking = sides.flatMap((side) => {
    const run = ask(side);
    return run === undefined ? [] : [{ side: side.name, run, runs: [] as HttpRun[] }];
  });
  for (const { run } of taking)
    await run({ ...load, ...limits, seconds: Math.min(WARM_UP_SECONDS, seconds), seed: 0 });
  for (let round = 1; round <= rounds; round += 1)
    for (const { run, runs } of taking) runs.push(await run({ ...load, ...limits, seed: round }));
  console.log(`\n${title}`);
  console.table(comparison(taking, taking.at(-1)?.runs ?? []));
};

const sql = postgresSql({ url: databaseUrl });
await sql.script(EMPTY_DATABASE);
const onPostgres = await quireSide('Quire, DATABASE_URL', { DATABASE_URL: databaseUrl }, tenantsMax);
const embedded = await quireSide('Quire, embedded', {}, tenantsMax);
const bare = await bareSide(databaseUrl, tenantsMax);
const sides = [onPostgres, embedded, bare];
console.log(`PostgreSQL: ${await serverSettings(databaseUrl)}`);
const each = units === undefined ? `${seconds} s` : `${units} requests`;
console.log(`${rounds} rounds of ${each} each; medians, and the ratios of each round`);
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
