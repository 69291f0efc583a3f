import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from '../../../engine/test/bench/measure.ts';
import { benchGrownStart } from './grownStart.ts';
import { timedStart, type Start } from './start.ts';

/** The checkout that is measured: this one, or another by `BENCH_CHECKOUT`. What it has built is removed. */
const checkout = process.env['BENCH_CHECKOUT'] ?? fileURLToPath(new URL('../../../../', import.meta.url));
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const idleSeconds = Number(process.env['BENCH_IDLE_SECONDS'] ?? 10);
const port = Number(process.env['BENCH_PORT'] ?? 18080);

/** Of a log that the service is started on, by `BENCH_EVENTS` and `BENCH_TENANTS`; without it, on nothing. */
const events = Number(process.env['BENCH_EVENTS'] ?? 0);
if (events > 0) {
  await benchGrownStart({ events, tenants: Number(process.env['BENCH_TENANTS'] ?? 10_000) }, rounds);
  process.exit();
}

const first: Start[] = [];
const later: Start[] = [];
for (let round = 0; round < rounds; round += 1) {
  await rm(join(checkout, 'dist'), { recursive: true, force: true });
  const dataDir = await mkdtemp(join(tmpdir(), 'quire-start-'));
  const options = { checkout, dataDir, port, idleSeconds };
  first.push(await timedStart(options));
  later.push(await timedStart(options));
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
}

const isService = (command: string): boolean => /^\S*node /.test(command) && !command.includes('npm');
const row = (starts: readonly Start[]) => {
  const memory = starts.map(({ idle }) => idle.filter(({ command }) => !/^(npm|sh) /.test(command)));
  const ofService = memory.map((all) => all.find(({ command }) => isService(command)));
  const fixed = (values: readonly number[], digits: number): string => median(values).toFixed(digits);
  return {
    'to ready, s': fixed(
      starts.map(({ healthySeconds }) => healthySeconds),
      2,
    ),
    'CPU until then, s': fixed(
      starts.map(({ cpuSeconds }) => cpuSeconds),
      2,
    ),
    'idle RSS, MB': fixed(
      ofService.map((one) => one?.rssMb ?? 0),
      0,
    ),
    'idle PSS, MB': fixed(
      ofService.map((one) => one?.pssMb ?? 0),
      0,
    ),
    'other processes': Math.max(...memory.map((all) => all.length - 1)),
  };
};
console.table({ 'first start': row(first), 'later start': row(later) });
