import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { tempDatabase } from '../../test/support/tempDatabase.ts';
import type { Figures } from './figures.ts';

/*
 * npm run bench: one table of what the benchmarks come to beside their aims. Each runs as its own command does, with
 * fewer rounds, and says its figures to this process; its own tables go to stderr. Arguments name the benchmarks that
 * are run; without them all are, in less than ten minutes on a quiet machine with two cores.
 */

type Sizes = Readonly<Record<string, string>>;

interface Bench {
  readonly main: string;
  readonly sizes: Sizes;
  /** Sizes that mean nothing and show that it runs, by `BENCH_SMALL`. */
  readonly small: Sizes;
  /** It compares with PostgreSQL, and empties a database of its own there. */
  readonly needsSql?: true;
  /** What the table shows of its figures: at least that much, or at most. */
  readonly aims: Readonly<Record<string, { readonly atLeast: number } | { readonly atMost: number }>>;
}

const BENCHES: Readonly<Record<string, Bench>> = {
  burns: {
    main: './burnsMain.js',
    needsSql: true,
    sizes: { BENCH_SECONDS: '4', BENCH_ROUNDS: '2', BENCH_ONLY: 'hot|1,000 tenants', BENCH_AGAINST: 'R1' },
    small: {
      BENCH_UNITS: '40',
      BENCH_TENANTS: '10',
      BENCH_ROUNDS: '1',
      BENCH_ONLY: 'hot tenant, 16',
      BENCH_AGAINST: 'R1',
    },
    aims: {
      'burns ÷ one SQL statement: one hot tenant, 16 in flight': { atLeast: 3 },
      'burns ÷ one SQL statement: one hot tenant, 64 in flight': { atLeast: 8 },
      'burns ÷ one SQL statement: many tenants, 16 in flight': { atLeast: 1 },
      'burns ÷ one SQL statement: many tenants, 64 in flight': { atLeast: 1 },
      'hold + settle ÷ one SQL statement: one hot tenant, 64 in flight': { atLeast: 3 },
      "CPU of a burn ÷ the statement's: one hot tenant, 16 in flight": { atMost: 1 },
      "CPU of a burn ÷ the statement's: many tenants, 16 in flight": { atMost: 1 },
    },
  },
  http: {
    main: './httpMain.js',
    needsSql: true,
    sizes: { BENCH_SECONDS: '4', BENCH_ROUNDS: '2', BENCH_ONLY: 'burns' },
    small: {
      BENCH_UNITS: '40',
      BENCH_TENANTS: '3',
      BENCH_ROUNDS: '1',
      BENCH_ONLY: 'burns: one hot tenant, 16|balance reads: one tenant',
    },
    aims: {
      'HTTP burns ÷ Express: one hot tenant, 16 connections': { atLeast: 1.3 },
      'HTTP burns ÷ Express: one hot tenant, 64 connections': { atLeast: 1.3 },
      'HTTP burns ÷ Express: many tenants, 16 connections': { atLeast: 1 },
      'HTTP burns ÷ Express: many tenants, 64 connections': { atLeast: 1 },
      "p99 of HTTP burns ÷ Express's: one hot tenant, 16 connections": { atMost: 1 },
      "p99 of HTTP burns ÷ Express's: many tenants, 16 connections": { atMost: 1 },
    },
  },
  rebuild: {
    main: './rebuildMain.js',
    needsSql: true,
    sizes: { BENCH_EVENTS: '100000', BENCH_ROUNDS: '2' },
    small: { BENCH_EVENTS: '2000', BENCH_TENANTS: '5', BENCH_ROUNDS: '1' },
    aims: { 'rebuild ÷ bare load': { atLeast: 1.2 }, 'rebuild, events/s': { atLeast: 45_000 } },
  },
  documents: {
    main: './documentsMain.js',
    sizes: { BENCH_SECONDS: '8', BENCH_ONLY: 'digital' },
    small: {
      BENCH_PAGES: '2',
      BENCH_SECONDS: '0.2',
      BENCH_IN_FLIGHT: '2',
      BENCH_WARM_UPS: '1',
      BENCH_ROUNDS: '2',
      BENCH_ONLY: 'digital',
    },
    aims: {
      "digital pages/s over HTTP ÷ the parser's own markdown": { atLeast: 0.9 },
      "the parser's CPU ÷ ours, a digital page in process": { atLeast: 0.9 },
    },
  },
  audit: {
    main: './auditMain.js',
    sizes: { BENCH_EVENTS: '300000' },
    small: { BENCH_EVENTS: '500', BENCH_TENANTS: '5', BENCH_ROUNDS: '1' },
    aims: { 'audit of the log, events/s': { atLeast: 100_000 } },
  },
  start: {
    main: './startMain.js',
    sizes: { BENCH_ROUNDS: '2', BENCH_IDLE_SECONDS: '5' },
    small: { BENCH_ROUNDS: '1', BENCH_IDLE_SECONDS: '0' },
    aims: {
      'first start until ready, s': { atMost: 5 },
      'later start until ready, s': { atMost: 1.5 },
      'idle memory (RSS), MB': { atMost: 250 },
    },
  },
};

interface Outcome {
  readonly figures: Figures;
  /** Why there are none. */
  readonly note?: string;
}

const { env } = process;
const server = env['BENCH_DATABASE_URL'];
const isSmall = env['BENCH_SMALL'] !== undefined;

/** Runs a benchmark in a process of its own, and gives what it told. */
const told = async ({ main, sizes, small }: Bench, database: Sizes): Promise<Outcome> => {
  const child = fork(fileURLToPath(new URL(main, import.meta.url)), {
    env: { ...env, ...(isSmall ? small : sizes), ...database },
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  let figures: Figures = {};
  child.on('message', (more) => (figures = { ...figures, ...(more as Figures) }));
  await once(child, 'close');
  return child.exitCode === 0 ? { figures } : { figures, note: 'failed' };
};

const ran = async (bench: Bench): Promise<Outcome> => {
  if (bench.needsSql !== true) return told(bench, {});
  if (server === undefined) return { figures: {}, note: 'no server: BENCH_DATABASE_URL names none' };
  const database = await tempDatabase(server);
  try {
    return await told(bench, { BENCH_DATABASE_URL: database.url });
  } finally {
    await database.drop();
  }
};

const number = (figure: number): string =>
  figure >= 100 ? Math.round(figure).toLocaleString('en') : figure.toFixed(2);

const rowOf = (what: string, aim: Bench['aims'][string], { figures, note }: Outcome): string => {
  const figure = figures[what];
  const wanted = 'atLeast' in aim ? `≥ ${number(aim.atLeast)}` : `≤ ${number(aim.atMost)}`;
  if (figure === undefined || Number.isNaN(figure))
    return `| ${what} | ${note ?? 'not told'} | ${wanted} | |`;
  const isMet = 'atLeast' in aim ? figure >= aim.atLeast : figure <= aim.atMost;
  return `| ${what} | ${number(figure)} | ${wanted} | ${isMet ? 'met' : 'missed'} |`;
};

/** What else the machine does makes every figure but ratios of CPU time worse. */
const loadOf = (): string => {
  const [load = 0] = loadavg();
  return `load ${load.toFixed(1)} before it began${load > 0.5 ? ': not a quiet machine' : ''}`;
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in BENCHES));
if (unknown.length > 0)
  throw new Error(
    `there is no benchmark ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`,
  );
const machine = `${availableParallelism()} cores, Node ${process.version}, ${loadOf()}`;
const rows: string[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const began = performance.now();
  const outcome = await ran(bench);
  if (outcome.note === 'failed') process.exitCode = 1;
  rows.push(...Object.entries(bench.aims).map(([what, aim]) => rowOf(what, aim, outcome)));
  process.stderr.write(`${name} took ${((performance.now() - began) / 1000).toFixed(0)} s\n`);
}
const date = new Date().toISOString().slice(0, 10);
console.log(
  [`${date}, ${machine}`, '', '| measure | now | aim | |', '|---|---|---|---|', ...rows].join('\n'),
);
