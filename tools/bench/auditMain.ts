import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { cpuSince, ifThere } from '../../engine/test/bench/cpu.ts';
import { median } from '../../engine/test/bench/measure.ts';
import type { ShortSeal } from '../../domain/finding.ts';
import { CLI } from '../../test/support/program.ts';
import { tellFigures } from './figures.ts';
import { copyTradingLog, eventsBeforeEnd, writeTradingLog } from './tradingLog.ts';

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
const auditedBy = async (
  cli: string,
  dataDir: string,
  args: readonly string[] = ['--log-only'],
): Promise<Audited> => {
  const { PATH = '', HOME = '' } = process.env;
  // Once it has ended, its CPU time is that of a child of this process.
  const spent = cpuSince([process.pid]);
  const began = performance.now();
  const child = spawn(process.execPath, [cli, 'audit', ...args, '--json'], {
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

/** Of all tenants, those that trade in the last month; where it is said, that month is audited by itself too. */
const tenantsAtEnd = Number(env['BENCH_TENANTS_AT_END'] ?? tenants);
const isSince = env['BENCH_TENANTS_AT_END'] !== undefined;

/** Kept for the next run: a large log takes longer to write than to audit. */
const logPath = join(folder, `quire-audited-${events}-${tenants}-${tenantsAtEnd}.db`);
if (!existsSync(logPath)) {
  const log = { path: logPath, events, tenants, tenantsAtEnd, seed: 20261123 };
  const written = await writeTradingLog(log, () => undefined);
  console.log(`a log of ${written} events of ${tenants} tenants: ${logPath}`);
}

const dataDir = await mkdtemp(join(folder, 'quire-audit-'));
const since: Audited[] = [];

/** A seal of the log as it was before its last month, as the service makes them: without the ends of all streams. */
const sealBeforeEnd = async (): Promise<string> => {
  const [before, seal] = [join(dataDir, 'before'), join(dataDir, 'seal.json')];
  await mkdir(before);
  copyTradingLog(logPath, join(before, 'events.db'));
  const log = new Database(join(before, 'events.db'));
  log.prepare('delete from events where position > ?').run(eventsBeforeEnd({ events }));
  log.close();
  await auditedBy(CLI, before, ['--log-only', '--seal', seal]);
  await rm(before, { recursive: true });
  const {
    made_at,
    position,
    events: sealed,
    log_digest,
  } = JSON.parse(readFileSync(seal, 'utf8')) as ShortSeal;
  const short = { seal_version: 2, made_at, position, events: sealed, log_digest, previous: null };
  await writeFile(seal, JSON.stringify(short));
  return seal;
};

const builds = [
  ...(other === undefined ? [] : [['the other build', other] as const]),
  ['this build', CLI] as const,
];
const audits = new Map<string, Audited[]>(builds.map(([name]) => [name, []]));
try {
  copyTradingLog(logPath, join(dataDir, 'events.db'));
  for (let round = 0; round < rounds; round += 1)
    for (const [name, cli] of builds) audits.get(name)?.push(await auditedBy(cli, dataDir));
  const seal = isSince ? await sealBeforeEnd() : '';
  for (let round = 0; isSince && round < rounds; round += 1)
    since.push(await auditedBy(CLI, dataDir, ['--since-seal', '--check-seal', seal]));
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
const secondsOf = (all: readonly Audited[]): number => median(all.map(({ seconds }) => seconds));
const whole = secondsOf(audits.get('this build') ?? []);
if (isSince)
  console.log(
    `the last month, in which ${String(tenantsAtEnd)} of ${String(tenants)} tenants trade, from a seal before it: ` +
      `${secondsOf(since).toFixed(1)} s, all of the log ${whole.toFixed(1)} s`,
  );
const found = new Set([...audits.values()].flat().map(({ report }) => report));
if (found.size !== 1) throw new Error('the audits do not say the same');
tellFigures({ 'audit of the log, events/s': median((audits.get('this build') ?? []).map(rateOf)) });
console.log('Nothing is wrong, and every audit says the same.');
