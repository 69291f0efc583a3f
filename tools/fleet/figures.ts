import type { Struck } from './faults.ts';
import type { Footprint } from '../../test/support/fleet/processes.ts';
import type { Seen } from './traffic.ts';

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;

interface Kind {
  readonly ms: number[];
  readonly ends: Map<string, number>;
}

/** Counts requests by kind and by how they ended. */
export const tally = () => {
  const kinds = new Map<string, Kind>();
  let count = 0;
  return {
    count: () => count,
    add: ({ kind, status, code, ms }: Seen): void => {
      count += 1;
      const one = kinds.get(kind) ?? { ms: [], ends: new Map<string, number>() };
      kinds.set(kind, one);
      if (status >= 200 && status < 300) one.ms.push(ms);
      const end = status < 300 && status > 0 ? 'ok' : `${status || ''} ${code}`.trim();
      one.ends.set(end, (one.ends.get(end) ?? 0) + 1);
    },
    print: (): void => {
      const rows = [...kinds].sort().map(([kind, { ms, ends }]) => {
        const sorted = ms.sort((a, b) => a - b);
        const others = [...ends].filter(([end]) => end !== 'ok').map(([end, n]) => `${end} ${n}`);
        return {
          kind,
          ok: ends.get('ok') ?? 0,
          'p50 ms': quantile(sorted, 0.5).toFixed(0),
          'p99 ms': quantile(sorted, 0.99).toFixed(0),
          'max ms': (sorted.at(-1) ?? 0).toFixed(0),
          'other ends': others.join(', '),
        };
      });
      for (const row of rows)
        console.log(
          `| ${row.kind} | ${row.ok} | ${row['p50 ms']} | ${row['p99 ms']} | ${row['max ms']} | ${row['other ends']} |`,
        );
    },
  };
};

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

/** Per fault: how often, and the median and worst time until writes and reads were back. */
export const printFaults = (struck: readonly Struck[]): void => {
  const names = [...new Set(struck.map(({ name }) => name))];
  console.log(
    '| fault | times | ran again after | writes back after (median, worst) | reads back (median, worst) |',
  );
  for (const name of names) {
    const all = struck.filter((one) => one.name === name);
    const of = (member: 'mendedMs' | 'writesMs' | 'readsMs') =>
      all.map((one) => one[member]).sort((a, b) => a - b);
    const both = (values: readonly number[]) =>
      `${seconds(quantile(values, 0.5))} s, ${seconds(values.at(-1) ?? 0)} s`;
    console.log(
      `| ${name} | ${all.length} | ${seconds(quantile(of('mendedMs'), 0.5))} s | ` +
        `${both(of('writesMs'))} | ${both(of('readsMs'))} |`,
    );
  }
};

/** One look at a process. */
export interface Sample extends Footprint {
  readonly name: string;
  readonly atMs: number;
  /** What was left after its garbage was collected, MB; mostly not asked for. */
  readonly keptMb: number | undefined;
}

const median = (values: readonly number[]): number =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );

/**
 * Memory and open files by sixths of the run: flat means that the last ones equal the ones before.
 * Resident memory holds garbage too; what is kept after a collection tells whether anything leaks.
 */
export const printFootprints = (samples: readonly Sample[]): void => {
  const end = Math.max(...samples.map(({ atMs }) => atMs));
  const PARTS = 6;
  console.log(
    '| process | resident MB by sixths of the run | most | kept MB by sixths | open files by sixths |',
  );
  for (const name of [...new Set(samples.map((one) => one.name))]) {
    const own = samples.filter((one) => one.name === name);
    const by = (member: 'rssMb' | 'keptMb' | 'files') =>
      Array.from({ length: PARTS }, (_, n) => {
        const within = own.filter(({ atMs }) => atMs >= (end * n) / PARTS && atMs <= (end * (n + 1)) / PARTS);
        const known = within.flatMap((one) => one[member] ?? []);
        return known.length === 0 ? '-' : median(known).toFixed(member === 'keptMb' ? 1 : 0);
      }).join(' ');
    const most = Math.max(...own.map(({ rssMb }) => rssMb)).toFixed(0);
    console.log(`| ${name} | ${by('rssMb')} | ${most} | ${by('keptMb')} | ${by('files')} |`);
  }
};
