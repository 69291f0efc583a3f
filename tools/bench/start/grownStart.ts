import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../../../engine/test/bench/measure.ts';
import { growDataDir, startOn, type Growth, type Started } from './grownLog.ts';

const row = (starts: readonly Started[]) => {
  const of = (figure: 'healthySeconds' | 'readySeconds' | 'cpuSeconds' | 'rssMb', digits: number) =>
    median(starts.map((start) => start[figure])).toFixed(digits);
  return {
    'to healthy, s': of('healthySeconds', 2),
    'to ready, s': of('readySeconds', 2),
    'CPU until then, s': of('cpuSeconds', 2),
    'RSS then, MB': of('rssMb', 0),
  };
};

/** Starts of the built service on a log of that size: the first, that makes the read models, and later ones. */
export const benchGrownStart = async (growth: Growth, rounds: number): Promise<void> => {
  const dataDir = await mkdtemp(join(process.env['BENCH_DIR'] ?? tmpdir(), 'quire-start-'));
  try {
    const first = await growDataDir(dataDir, growth);
    const later: Started[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const start = await startOn(dataDir);
      later.push(start);
      await start.service.stop('SIGTERM');
    }
    console.table({ 'first start': row([first]), 'later start': row(later) });
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
  }
};
