import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuSince, ifThere } from '../../engine/test/bench/cpu.ts';
import { median } from '../../engine/test/bench/measure.ts';
import { CLI } from '../../test/support/program.ts';
import { tellFigures } from './figures.ts';
import { copyTradingLog, writeTradingLog } from './tradingLog.ts';

/** What one `quire audit --log-only` took, and what it said. */
interface Audited {
  readonly events: number;
  readonly seconds: number;
  readonly cpuMs: number;
  /** Resident at most, as far as it was looked at. */
  readonly mostMb: number;
  readonly report: string;
}

const LOOK_EVERY_MS = 50;

/** The most that a process was resident with so far, MB; 0 once it is gone. */
const mostMbOf = (pid: number): number => {
  const [status = ''] = ifThere(() => readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
};

/** Audits the log of a data folder by the command of a build. Throws when something is wrong in it. */
const auditedBy = async (cli: string, dataDir: string): Promise<Audited> => {
  const { PATH = '', HOME = '' } = process.env;
  // Once it has ended, its CPU time is that of a child of this process.
  const spent = cpuSince([process.pid]);
  const began = performance.now();
  const child = spawn(process.execPath, [cli, 'audit', '--log-only', '--json'], {
    env: { PATH, HOME, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let mostMb = 0;
  const looking = setInterval(() => (mostMb = Math.max(mostMb, mostMbOf(child.pid ?? 0))), LOOK_EVERY_MS);
  const ended = once(child, 'exit');
  const [report, told] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  clearInterval(looking);
  if (child.exitCode !== 0)
    throw new Error(`the audit ended with ${String(child.exitCode)}:\n${told}${report}`);
  const { facts } = JSON.parse(report) as { readonly facts: { readonly events: number } };
  return {
    events: facts.events,
    seconds: (performance.now() - began) / 1000,
    cpuMs: spent(),
    mostMb,
    report,
  };
};

const { env } = process;
const events = Number(env['BENCH_EVENTS'] ?? 1_000_000);
const tenants = Number(env['BENCH_TENANTS'] ?? 1_000);
const rounds = Number(env['BENCH_ROUNDS'] ?? 3);
/** `cli.js` of another build, which is measured in turn with this one. */
const other = env['BENCH_CLI'];
const folder = env['BENCH_DIR'] ?? tmpdir();

/** Kept for the next run: a large log takes longer to write than to audit. */
const logPath = join(folder, `quire-audited-${events}-${tenants}.db`);
if (!existsSync(logPath)) {
  const written = await writeTradingLog({ path: logPath, events, tenants, seed: 20261123 }, () => undefined);
  console.log(`a log of ${written} events of ${tenants} tenants: ${logPath}`);
}

const dataDir = await mkdtemp(join(folder, 'quire-audit-'));
const builds = [
  ...(other === undefined ? [] : [['the other build', other] as const]),
  ['this build', CLI] as const,
];
const audits = new Map<string, Audited[]>(builds.map(([name]) => [name, []]));
try {
  copyTradingLog(logPath, join(dataDir, 'events.db'));
  for (let round = 0; round < rounds; round += 1)
    for (const [name, cli] of builds) audits.get(name)?.push(await auditedBy(cli, dataDir));
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

const rateOf = ({ events: n, seconds }: Audited): number => n / seconds;

const row = (all: readonly Audited[]) => {
  const of = (figure: (one: Audited) => number): number => median(all.map(figure));
  return {
    'events/s': Math.round(of(rateOf)),
    'CPU us an event': of((one) => (one.cpuMs / one.events) * 1000).toFixed(1),
    'memory at most, MB': Math.max(...all.map(({ mostMb }) => mostMb)).toFixed(0),
  };
};
console.table(Object.fromEntries([...audits].map(([name, all]) => [name, row(all)])));
const found = new Set([...audits.values()].flat().map(({ report }) => report));
if (found.size !== 1) throw new Error('the audits do not say the same');
tellFigures({ 'audit of the log, events/s': median((audits.get('this build') ?? []).map(rateOf)) });
console.log('Nothing is wrong, and every audit says the same.');
