import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../../engine/test/bench/measure.ts';
import { benchRebuild, type Built } from './rebuild.ts';
import { writeTradingLog } from './trades/tradingLog.ts';

const { env } = process;
const databaseUrl = env['BENCH_DATABASE_URL'];
if (databaseUrl === undefined)
  throw new Error('BENCH_DATABASE_URL must name a PostgreSQL that may be emptied');
const events = Number(env['BENCH_EVENTS'] ?? 1_000_000);
const tenants = Number(env['BENCH_TENANTS'] ?? 1_000);
const rounds = Number(env['BENCH_ROUNDS'] ?? 3);
const logPath = join(env['BENCH_DIR'] ?? tmpdir(), `quire-trading-${events}-${tenants}.db`);

if (!existsSync(logPath)) {
  const began = performance.now();
  console.log(`writing ${events} events of ${tenants} tenants to ${logPath}`);
  const written = await writeTradingLog({ path: logPath, events, tenants, seed: 20261121 }, (done) =>
    process.stderr.write(`\r  ${done} events`),
  );
  const seconds = (performance.now() - began) / 1000;
  console.log(`\r  ${written} events in ${seconds.toFixed(0)} s`);
}

const rateOf = ({ events: n, seconds }: Built): number => n / seconds;

const built = await benchRebuild({ databaseUrl, logPath, events, rounds });
const names = [...new Set(built.map(({ name }) => name))];
const runsOf = (name: string) => built.filter((run) => run.name === name);
const rates = new Map(names.map((name) => [name, median(runsOf(name).map(rateOf))]));
const [ours = 0, bare = 1, single = 1] = [...rates.values()];
console.log(`\n${events} events, ${rounds} rounds; medians`);
console.table(
  Object.fromEntries(
    names.map((name) => {
      const all = runsOf(name).map((run) => Math.round(rateOf(run)));
      const spread = `${Math.min(...all)}–${Math.max(...all)}`;
      const rssMb = Math.max(...runsOf(name).map((run) => run.rssMb));
      const cpu = runsOf(name).flatMap((run) => run.cpuMs ?? []);
      const cpuMs = cpu.length === 0 ? 'unknown' : median(cpu).toFixed(4);
      const rate = Math.round(rates.get(name) ?? 0);
      return [name, { 'events/s': rate, spread, 'CPU ms an event': cpuMs, 'RSS MB': rssMb }];
    }),
  ),
);
console.log(
  `Quire ÷ bare load: ${(ours / bare).toFixed(2)}; Quire ÷ a transaction an event: ${(ours / single).toFixed(1)}`,
);
